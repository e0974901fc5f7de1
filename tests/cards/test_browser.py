"""The page of a card in Chromium: it asks for nothing, its tables sort and download, its figures answer to a click."""

from __future__ import annotations

import shutil
import time

import pytest

import pt_reuse as ptr

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(not (BROWSER and DRIVER), reason="no Chromium with its chromedriver on this machine")
EVIL = '</script><img src=x onerror="window.hit=1">'


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Return the page of a field with a run and a team whose names are markup."""
    field = ptr.demo.simulate_field(seed=7)
    first, team = field.runs.names[0], field.runs.run_table["team"][0]
    table = field.runs.run_table.replace({first: first + EVIL, team: team + EVIL})
    frames = {name if name != first else first + EVIL: field.runs[name] for name in field.runs.names}
    runs = ptr.RunSet.from_frames(frames, metadata=table)
    card = ptr.report(runs, field.qrels, name=EVIL, resamples=10)
    return card.save(tmp_path_factory.mktemp("page") / "card.html")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    folder = tmp_path_factory.mktemp("downloads")
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in ("headless=new", "no-sandbox", "disable-gpu", "window-size=1280,900", "disable-dev-shm-usage"):
        options.add_argument(f"--{argument}")
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.folder = folder
    yield driver
    driver.quit()


@pytest.fixture
def opened(browser, page):
    """Return the browser with the page, as wide as a screen, when its figures are drawn."""
    look(browser, width=1280)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    browser.get(page.as_uri())
    charts = "return [...document.querySelectorAll('.chart')].every(one => one.querySelector('svg'))"
    wait(lambda: browser.execute_script(charts))
    return browser


def look(browser, width):
    shape = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", shape)


def wait(condition, seconds=20):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.05)
    return found


def run(browser, script, *arguments):
    return browser.execute_script(script, *arguments)


def test_it_asks_for_nothing_and_runs_nothing_but_its_own(opened, page):
    asked = run(opened, "return performance.getEntriesByType('resource').map(each => each.name)")
    assert [url for url in asked if not url.startswith(("data:", "blob:"))] == []
    assert run(opened, "return window.hit === undefined && document.images.length === 0")
    said = [entry["message"] for entry in opened.get_log("browser")]
    assert said == []
    # the policy lets no text become code
    script = "const s = document.createElement('script'); s.textContent = 'window.hit = 2'; document.body.append(s)"
    assert run(opened, f"{script}; return window.hit === undefined")


def test_a_table_is_sorted_by_the_keyboard(opened):
    script = """const table = document.querySelector('[data-name="teams-by_run-ndcg-10"]').parentElement;
        table.closest('details').open = true;
        const button = table.querySelectorAll('th button')[1];
        button.focus(); return [table, button]"""
    table, button = run(opened, script)
    values = "return [...arguments[0].querySelectorAll('tbody tr')].map(row => +row.cells[1].dataset.v)"
    button.send_keys("\ue007")
    assert run(opened, values, table) == sorted(run(opened, values, table))
    assert button.find_element("xpath", "..").get_attribute("aria-sort") == "ascending"
    button.send_keys(" ")
    assert run(opened, values, table) == sorted(run(opened, values, table), reverse=True)


def test_a_table_is_downloaded(opened):
    opened.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(opened.folder)})
    run(opened, "document.querySelector('[data-name=\"teams-by_run-ndcg-10\"]').click()")
    file = opened.folder / "teams-by_run-ndcg-10.csv"
    wait(file.exists)
    lines = file.read_text(encoding="utf-8").splitlines()
    assert lines[0] == 'Run,Score,Without own uniques,Change,"Change, %",Drop'
    assert len(lines) == 19
    assert len([line for line in lines if "onerror" in line]) == 1


def test_a_point_names_its_run_and_a_click_shows_its_team(opened):
    point = run(opened, "return document.querySelector('#chart-teams .role-mark path')")
    run(opened, "arguments[0].scrollIntoView({block: 'center'})", point)
    actions = webdriver.ActionChains(opened)
    actions.move_to_element(point).perform()
    shown = wait(lambda: run(opened, "return document.querySelector('#vg-tooltip-element.visible')?.textContent"))
    assert "run" in shown
    actions.click(point).perform()
    team = wait(lambda: run(opened, "return document.getElementById('team').value"))
    assert team in shown
    rows = """return [...document.querySelectorAll('tr[data-run]')].map(row => [row.dataset.run, row.hidden])"""
    teams = run(opened, "return JSON.parse(document.getElementById('data-runs').textContent)")
    assert all(hidden == (teams[name] != team) for name, hidden in run(opened, rows))
    assert run(opened, "return document.getElementById('said').textContent") == f"Runs of {team} alone are shown."


@pytest.mark.parametrize("width", [375, 1280, 1920])
def test_nothing_is_wider_than_the_screen(width, opened):
    look(opened, width=width)
    run(opened, "document.querySelectorAll('details').forEach(each => each.open = true)")
    assert run(opened, "return document.documentElement.scrollWidth") <= width


def test_it_is_dark_where_the_system_is(opened):
    colours = """const style = getComputedStyle(document.documentElement);
        const label = document.querySelector('#chart-density .mark-text text');
        return [style.backgroundColor, style.color, getComputedStyle(label).fill]"""
    light = run(opened, colours)
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    paper, ink, label = run(opened, colours)
    assert (paper, ink) != tuple(light[:2])
    assert label == ink
