"""The known data sets: their files, where they are published, and the SHA-256 of each as LF text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """One place a file can be had from: an address, and the member if the address is an archive."""

    address: str
    member: str | None = None


@dataclass(frozen=True)
class DataFile:
    """One file of a data set: its name, the hash of its text, and its sources in the order to try them."""

    name: str
    sha256: str
    sources: tuple[Source, ...]


@dataclass(frozen=True)
class DataSet:
    """A published data set, the clause files that come with it, and how it is described in one line."""

    name: str
    description: str
    files: tuple[DataFile, ...]
    clauses: str | None = None
    simple_clauses: str | None = None


_GITHUB = "https://raw.githubusercontent.com"
_KALE = f"{_GITHUB}/iieir-km/KALE/master/datasets"
_KALE_ATTACHMENT = "https://aclanthology.org/attachments/D16-1019.Attachment.zip"
_INFERBEDDINGS = f"{_GITHUB}/uclnlp/inferbeddings/master/data/guo-emnlp16"
_INFERBEDDINGS_PINNED = f"{_GITHUB}/uclnlp/inferbeddings/117e7c10e5ebb8af10b5c381bc7d035592386a8c/data/guo-emnlp16"
_CONVE = "https://github.com/TimDettmers/ConvE/raw/master"
_MANNHEIM = "https://web.informatik.uni-mannheim.de/pi1/kge-datasets"


def _guo_split(split: str, sha256: str, name: str, attached: str, copied: str) -> DataFile:
    """Return a split of Guo et al. (2016), who published it twice; the paper's authors keep a copy."""
    return DataFile(
        f"{split}.txt",
        sha256,
        (
            Source(f"{_KALE}/{name}/{name}_triples.{split}"),
            Source(_KALE_ATTACHMENT, f"{attached}.{split}"),
            Source(f"{_INFERBEDDINGS}/{copied}.{split}"),
        ),
    )


def _guo_extra(file: str, sha256: str, *paths: str) -> DataFile:
    """Return a file that only the paper's authors published: parts of test, and clauses as Prolog."""
    bases = (_INFERBEDDINGS, _INFERBEDDINGS_PINNED)
    return DataFile(file, sha256, tuple(Source(f"{base}/{path}") for base in bases for path in paths))


def _from_archives(split: str, sha256: str, conve: str, mannheim: str) -> DataFile:
    """Return a split that is a member of two published archives."""
    sources = (
        Source(f"{_CONVE}/{conve}.tar.gz", f"{split}.txt"),
        Source(f"{_MANNHEIM}/{mannheim}.tar.gz", f"{mannheim}/{split}.txt"),
    )
    return DataFile(f"{split}.txt", sha256, sources)


def _fb122(split: str, sha256: str) -> DataFile:
    return _guo_split(split, sha256, "fb122", "fb122/fb122_triples", "fb122/fb122_triples")


def _wn18(split: str, sha256: str) -> DataFile:
    return _guo_split(split, sha256, "wn18", "wb18/wn18.triples", "wn18/wn18.triples")


def _fb15k_237(split: str, sha256: str) -> DataFile:
    return _from_archives(split, sha256, "FB15k-237", "fb15k-237")


def _wn18rr(split: str, sha256: str) -> DataFile:
    return _from_archives(split, sha256, "WN18RR", "wnrr")


_ALL = (
    DataSet(
        "fb122",
        "Freebase on people, places and sports, with 47 clauses (Guo et al. 2016)",
        (
            _fb122("train", "26ecf8642cbdf70f5dfdfffa292c16fd12d7c293f2af35ade0ec6581e9d8e970"),
            _fb122("valid", "f7e8bb3a8e68879eee0d17d0195600bef6c853e4b62adce368147a7fc79df91a"),
            _fb122("test", "e229d12db978d8263796d081916396d4cc5909ab9b49b12e6f543549b3fd0aef"),
            _guo_extra(
                "test-I.txt",
                "df757a89ca4907e384e4d55e1cd6d57ae14b417ffc7f9ab2671fa9e7888bc90f",
                "fb122/FB122-testI.txt",
                "data/testI_testII/FB122-testI.txt",
            ),
            _guo_extra(
                "test-II.txt",
                "a17b0751a788c14df415db2809a255b0dd21530c0a39c78647c01891b3f5741d",
                "fb122/FB122-testII.txt",
                "data/testI_testII/FB122-testII.txt",
            ),
            _guo_extra(
                "clauses.pl",
                "e866b84c934c1314a74f83cbe760457b199d5df14e8691496c660e2aaa3cab52",
                "fb122/clauses/fb122-clauses.pl",
            ),
            _guo_extra(
                "clauses-simple.pl",
                "cdc499a0709a59c22cc2b963cd33cf2f27d91577d0c5621dafd24b643a28b309",
                "fb122/clauses/fb122-clauses-simple.pl",
            ),
        ),
        clauses="clauses.pl",
        simple_clauses="clauses-simple.pl",
    ),
    DataSet(
        "wn18",
        "WordNet, with 14 clauses about inverse relations (Bordes et al. 2013, Guo et al. 2016)",
        (
            _wn18("train", "24c9b02dc57d3ae8ca8467ce355995edee7be8eddc3bd070ee34d3c6fc3c95eb"),
            _wn18("valid", "13347bfb5e17d1cae003e0bfe29b4716d3ab748e8cfb6af997138d37da3a51dc"),
            _wn18("test", "d22c19d176d4ba6a6f0d0c6bfce39ab3c16e3b20e1df6f9efe0d9ed86542fa10"),
            _guo_extra(
                "test-I.txt",
                "f615aea9118b7b3ce59a554538f1fb1dbdaa147b09f4f456ebf6295f02c37c4b",
                "wn18/WN18-testI.txt",
                "data/testI_testII/WN18-testI.txt",
            ),
            _guo_extra(
                "test-II.txt",
                "18f25f01c09cce6839a79a38524f9d8c07db2d308b9f18382b3b100badf9bc0e",
                "wn18/WN18-testII.txt",
                "data/testI_testII/WN18-testII.txt",
            ),
            _guo_extra(
                "clauses.pl",
                "19945740f2cf77ff87181f2895c543111dff69a6ca836968961df98f1e161f10",
                "wn18/clauses/wn18-clauses.pl",
                "clauses/wn18-clauses.pl",
            ),
        ),
        clauses="clauses.pl",
        simple_clauses="clauses.pl",  # each has one body atom
    ),
    DataSet(
        "fb15k-237",
        "Freebase without inverse relations (Toutanova and Chen 2015)",
        (
            _fb15k_237("train", "61099230e4439f90885ca9767739e31e8e32f54736fa1c35952b27997bc7c08a"),
            _fb15k_237("valid", "749cbe9d923bac7b9354da5614ecfed2e0220256d442c3e04a6b303db1f273d9"),
            _fb15k_237("test", "e2e35e8e6113de220140b6f44dc71a5207b0fc6872d575e874aefe13259b655b"),
        ),
    ),
    DataSet(
        "wn18rr",
        "WordNet without inverse relations (Dettmers et al. 2018)",
        (
            _wn18rr("train", "038612e783c215ee5f3ca9fbfca27b8d0739be1028fe4ee7c174aecf0b83d5df"),
            _wn18rr("valid", "453ce7202afa58094a04d2b1560ee2b02660f1c260b32ce6651c8ccedd1028ab"),
            _wn18rr("test", "0383bceaaa1096cf3c03ec021ed0048068e2355dbfc0239b292cefdac821cec5"),
        ),
    ),
)

DATASETS: Mapping[str, DataSet] = {dataset.name: dataset for dataset in _ALL}
"""The known data sets by name."""
