"""The paper's experiments on synthetic knowledge bases: its tables of AUC-PR by type of clause."""
