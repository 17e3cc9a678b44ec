"""Language models read through a readout: what they are asked, and how their text becomes an answer."""
