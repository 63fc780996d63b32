"""What can be set: read once, all faults told at once."""

import pytest

from capture_consumer.errors import BadInput, SettingsInvalid
from capture_consumer.settings import Settings, find_root, load, make_home, without_password
from capture_consumer.settings.table import SETTINGS


def test_nothing_set_means_a_file_and_a_store_at_the_git_root(tmp_path):
    """Decision 3, R25."""
    (tmp_path / ".git").mkdir()
    below = tmp_path / "packages" / "shop"
    below.mkdir(parents=True)

    settings = load({}, cwd=below)

    assert settings.database_url == f"sqlite:///{tmp_path}/.capture/capture.sqlite"
    assert settings.store_url == f"{tmp_path}/.capture/store"


def test_without_git_they_lie_in_the_working_directory(tmp_path):
    """R25."""
    assert load({}, cwd=tmp_path).home == tmp_path / ".capture"


def test_a_work_tree_whose_git_is_a_file_is_a_git_root(tmp_path):
    (tmp_path / ".git").write_text("gitdir: /elsewhere\n")

    assert find_root(tmp_path / ".") == tmp_path


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_every_way_to_write_postgresql_means_psycopg(tmp_path, scheme):
    told = {"CAPTURE_DATABASE_URL": f"{scheme}://ana:pw@db:5433/capture"}

    assert load(told, cwd=tmp_path).database_url == (
        "postgresql+psycopg://ana:pw@db:5433/capture"
    )


def test_a_relative_path_starts_where_the_command_was_called(tmp_path):
    told = {"CAPTURE_DATABASE_URL": "sqlite:///data/x.sqlite", "CAPTURE_STORE": "pictures"}

    settings = load(told, cwd=tmp_path)

    assert settings.database_url == f"sqlite:///{tmp_path}/data/x.sqlite"
    assert settings.store_url == f"{tmp_path}/pictures"


def test_the_file_at_the_git_root_is_read_and_the_environment_wins(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "capture.toml").write_text('project = "shop"\ngrace = 60\nstore = "kept"\n')
    below = tmp_path / "deep"
    below.mkdir()

    settings = load({"CAPTURE_GRACE": "90"}, cwd=below)

    assert settings.project == "shop"
    assert settings.grace_s == 90
    assert settings.store_url == f"{tmp_path}/kept"


def test_all_faults_are_told_at_once_each_with_its_name(tmp_path):
    told = {
        "CAPTURE_DATABASE_URL": "mysql://db/x",
        "CAPTURE_GRACE": "-1",
        "CAPTURE_LEASE_MS": "soon",
        "CAPTURE_PROJECT": "My Shop",
    }

    with pytest.raises(SettingsInvalid) as refused:
        load(told, cwd=tmp_path)

    assert [fault.partition(":")[0] for fault in refused.value.faults] == sorted(told)


def test_an_unknown_name_is_a_fault_that_names_the_nearest_one(tmp_path):
    with pytest.raises(SettingsInvalid, match="did you mean CAPTURE_DATABASE_URL"):
        load({"CAPTURE_DATABSE_URL": "sqlite:///x"}, cwd=tmp_path)


def test_an_unknown_key_in_the_file_is_a_fault_too(tmp_path):
    (tmp_path / "capture.toml").write_text('projct = "shop"\n')

    with pytest.raises(SettingsInvalid, match="did you mean project"):
        load({}, cwd=tmp_path)


def test_a_file_that_is_not_toml_is_one_fault(tmp_path):
    (tmp_path / "capture.toml").write_text("project = \n")

    with pytest.raises(SettingsInvalid) as refused:
        load({}, cwd=tmp_path)

    assert len(refused.value.faults) == 1
    assert "capture.toml" in refused.value.faults[0]


@pytest.mark.parametrize("name", ["CAPTURE_CHANNEL", "CAPTURE_PLAN", "CAPTURE_TEST_HANDLERS"])
def test_names_between_our_own_processes_are_no_settings(tmp_path, name):
    """SUP-1."""
    assert load({name: "{}"}, cwd=tmp_path).grace_s == 30


@pytest.mark.parametrize(
    "told",
    [
        {"CAPTURE_TOUCH_EVERY_MS": "20001", "CAPTURE_LEASE_MS": "60000"},
        {"CAPTURE_CHECK_MS": "60000"},
        {"CAPTURE_POLL_ACTIVE_MS": "16000"},
    ],
)
def test_settings_that_contradict_each_other_are_refused(tmp_path, told):
    """JOB-51, JOB-54, JOB-19."""
    with pytest.raises(SettingsInvalid):
        load(told, cwd=tmp_path)


def test_three_touches_just_fit_into_a_lease(tmp_path):
    """JOB-51."""
    told = {"CAPTURE_TOUCH_EVERY_MS": "20000", "CAPTURE_LEASE_MS": "60000"}

    assert load(told, cwd=tmp_path).touch_every_ms == 20_000


@pytest.mark.parametrize("value", ["", "  ", "sqlite://", "sqlite:///:memory:", "just text"])
def test_a_database_that_processes_cannot_share_is_refused(tmp_path, value):
    with pytest.raises(SettingsInvalid, match="CAPTURE_DATABASE_URL"):
        load({"CAPTURE_DATABASE_URL": value}, cwd=tmp_path)


def test_a_port_that_is_no_number_is_refused(tmp_path):
    with pytest.raises(SettingsInvalid, match="CAPTURE_DATABASE_URL"):
        load({"CAPTURE_DATABASE_URL": "postgresql://db:port/x"}, cwd=tmp_path)


def test_a_settings_text_never_shows_a_password(tmp_path):
    settings = load({"CAPTURE_DATABASE_URL": "postgresql://ana:s3cret@db/x"}, cwd=tmp_path)

    assert "s3cret" not in repr(settings)
    assert without_password(settings.database_url) == "postgresql://ana:***@db/x"


def test_an_address_that_cannot_be_read_shows_nothing_of_itself():
    assert "s3cret" not in without_password("postgresql://ana:s3cret@[db/x")


def test_the_home_is_made_with_an_ignore_file_of_its_own(tmp_path):
    """R25."""
    settings = load({}, cwd=tmp_path)

    make_home(settings)
    make_home(settings)

    assert (tmp_path / ".capture" / ".gitignore").read_text() == "*\n"


def test_a_home_that_cannot_be_made_is_one_line_that_says_what_to_set(tmp_path):
    """D15: a folder that one may not write, or a file in the way."""
    (tmp_path / ".capture").write_text("", encoding="utf-8")

    with pytest.raises(BadInput, match="CAPTURE_STORE"):
        make_home(load({}, cwd=tmp_path))


def test_no_home_is_made_when_nothing_lies_in_it(tmp_path):
    told = {"CAPTURE_DATABASE_URL": "postgresql://db/x", "CAPTURE_STORE": "/elsewhere"}

    make_home(load(told, cwd=tmp_path))

    assert list(tmp_path.iterdir()) == []


def test_every_setting_has_a_field_and_the_other_way_round():
    fields = set(Settings.__dataclass_fields__) - {"root"}

    assert {setting.field for setting in SETTINGS} == fields


@pytest.mark.parametrize(
    "setting", [one for one in SETTINGS if one.default.isdigit()], ids=lambda one: one.name
)
def test_a_default_in_figures_is_the_one_in_force(setting, tmp_path):
    assert getattr(load({}, cwd=tmp_path), setting.field) == int(setting.default)
