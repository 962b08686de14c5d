from small_graphs import graph_folder  # noqa: F401
