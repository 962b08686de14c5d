from small_graphs import copied, finished, graph_folder, unfinished  # noqa: F401
