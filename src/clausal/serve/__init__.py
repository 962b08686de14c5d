"""The service: trained runs answer over HTTP, in one process, offline. It needs the extra ``serve``.

>>> clausal serve runs/fb122
"""
