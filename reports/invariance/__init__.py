"""What changes in the answers when nothing that matters was changed, and what moves when it was."""
