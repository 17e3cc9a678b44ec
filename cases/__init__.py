"""What is asked: suites, cases, questions, references, and the rules of a legal answer."""
