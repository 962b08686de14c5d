"""Fast forms of what the other rooms do, each the same mathematics as the reference it stands for."""
