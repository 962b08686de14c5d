"""Each defect that 24,000 hostile cases once found is named here with the test that would find it again."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

DEFECTS = {
    "a device or a pipe is replaced by what is written": [
        "cli/test_pipes_and_devices.py::test_nothing_takes_the_place_of_a_pipe_or_a_device",
        "test_files.py::test_what_is_no_file_is_neither_written_nor_read",
    ],
    "an XML bomb takes memory without bound": [
        "logic/formats/test_hostile_owl.py::test_entities_that_stand_for_too_much_are_refused_in_little_memory"
    ],
    "--limit and --memory do not bound a round of the closure": [
        "logic/closure/test_closure.py::test_a_limit_and_a_memory_limit_hold_inside_a_round",
        "logic/closure/test_closure.py::test_a_join_beyond_the_memory_limit_is_one_message",
    ],
    "a pipe or a device as clauses or settings hangs": [
        "cli/test_pipes_and_devices.py::test_nothing_waits_for_a_pipe_or_a_device"
    ],
    "1,500 disjoint properties become a million clauses": [
        "logic/formats/test_hostile_owl.py::test_disjoint_properties_beyond_any_ontology_are_left_out_with_a_note"
    ],
    "Ctrl-C is lost in an import, or prints a traceback": [
        "cli/test_interrupts.py::test_ctrl_c_at_any_moment_of_the_start",
        "cli/test_interrupts.py::test_an_interrupt_that_is_swallowed_comes_again",
    ],
    "--format json prints invalid JSON where stdout is not UTF-8": [
        "cli/test_odd_names.py::test_json_is_json_in_every_encoding"
    ],
    "Parquet text that is not UTF-8": [
        "graph/test_other_formats.py::test_the_row_of_parquet_text_that_is_not_utf8_is_named"
    ],
    "clauses --to kale with 26 variables": [
        "logic/formats/test_writing_formats.py::test_kale_has_a_letter_for_each_of_26_variables"
    ],
    "damaged vectors, as .npy or of word2vec": [
        "model/test_pretrained_vectors.py::test_damaged_files_are_explained",
        "model/test_pretrained_vectors.py::test_a_bad_line_of_word2vec_text_is_named",
    ],
    "NUL in a path": [
        "cli/test_bad_input.py::test_a_path_with_a_nul",
        "test_files.py::test_a_path_with_a_nul_is_refused",
    ],
    "integers of more than 4,300 digits": [
        "test_config.py::test_integers_of_thousands_of_digits_are_refused",
        "logic/formats/test_format_errors.py::test_ids_of_thousands_of_digits_are_none",
    ],
    "triple terms of RDF 1.2 in OWL": [
        (
            "logic/formats/test_hostile_owl.py::"
            "test_axioms_with_a_triple_in_the_place_of_a_property_are_left_out_and_counted"
        )
    ],
    "floats beyond single precision": [
        "test_config.py::test_reals_beyond_single_precision_are_refused_with_the_largest",
        "cli/test_certify_command.py::test_thresholds_beyond_single_precision_are_refused",
    ],
    "--memory 99999999999TB": ["logic/test_store.py::test_more_memory_than_there_can_be_is_refused"],
    "a deleted working directory": ["cli/test_bad_input.py::test_a_working_directory_that_has_been_deleted"],
    "out of memory while reading advises a smaller model": [
        "cli/test_bad_input.py::test_running_out_of_memory_while_reading_names_the_file"
    ],
    "Parquet with a dictionary under a memory limit is called mistyped": [
        "graph/test_other_formats.py::test_a_lack_of_memory_is_not_a_wrong_type"
    ],
    "a long CSV field hides the bad line": [
        "graph/test_bad_text_files.py::test_a_long_field_does_not_hide_the_bad_line"
    ],
    "messages repeat names of 200 KB": [
        "cli/test_bad_input.py::test_long_arguments_are_not_repeated_in_full",
        "cli/test_bad_input.py::test_long_names_are_not_repeated_in_full",
    ],
    "a refused --out nope/.. leaves a folder": [
        "cli/test_pipes_and_devices.py::test_a_refused_path_leaves_no_folder_behind"
    ],
    "100,000 atoms or 40,000 anonymous variables take seconds": [
        "logic/test_long_clauses.py::test_four_times_the_atoms_take_no_sixteen_times_as_long"
    ],
    "a worker of a search that is killed early blocks the others": [
        "search/test_shared_study.py::test_the_trial_of_a_worker_that_never_gave_a_sign_of_life_is_taken_up_again",
        "search/test_shared_study.py::test_a_worker_that_is_killed_while_another_waits_is_noticed_too",
    ],
    "a killed process of a pool is not noticed": [
        "search/test_trials_at_once.py::test_a_killed_process_ends_all_with_one_message"
    ],
    "an interrupt waits for trials of other processes": [
        "search/test_trials_at_once.py::test_an_interrupt_does_not_wait_for_trials_that_run"
    ],
    "a table that somebody holds is waited for without end": [
        "search/test_shared_study.py::test_a_table_that_somebody_holds_ends_the_search_with_a_message",
        "graph/test_databases.py::test_a_table_that_somebody_holds_is_not_waited_for_without_end",
    ],
    "a service that works for nobody does not end": [
        "serve/test_life.py::test_work_that_nobody_waits_for_does_not_keep_the_service_from_its_end"
    ],
    "a server that sends byte by byte keeps a download for ever": [
        "graph/test_downloads.py::test_a_server_that_sends_byte_by_byte_is_given_up_for_a_mirror"
    ],
    "processes outlive those that could end them": [
        "peers/test_joining.py::test_a_process_whose_parent_is_gone_ends",
        "peers/test_joining.py::test_when_the_first_process_is_done_the_others_are_not_waited_for_without_end",
    ],
    "Spark that does not start is waited for without end": [
        "logic/engines/test_spark_cluster.py::test_a_start_without_end_is_given_up"
    ],
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_each_defect_has_its_tests(defect):
    assert DEFECTS[defect]
    for test in DEFECTS[defect]:
        file, _, name = test.partition("::")
        tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, test
