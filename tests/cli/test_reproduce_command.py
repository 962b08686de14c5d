"""``clausal reproduce``: figures are written where they were asked for, and their paths printed."""

from pathlib import Path

from command_line import clausal, refused


def test_contours_are_drawn_into_the_folder(tmp_path):
    result = clausal("reproduce", "contours", "--quick", "--out", tmp_path / "figures", "--format", "json")
    assert result.code == 0, result.stderr
    written = [Path(path) for path in result.json["figures"]]
    assert {path.name for path in written} == {"contours.png", "contours.pdf", "contours.svg"}
    assert all(path.parent == tmp_path / "figures" and path.stat().st_size > 1000 for path in written)


def test_a_file_in_the_place_of_the_folder_is_one_message(tmp_path):
    (tmp_path / "figures").write_text("in the way")
    refused(clausal("reproduce", "contours", "--quick", "--out", tmp_path / "figures"), tmp_path / "figures", code=1)


def test_reproduce_alone_lists_what_there_is():
    result = clausal("reproduce")
    assert "contours" in result.stdout + result.stderr
