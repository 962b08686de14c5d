"""A service with a token: the page asks for it once."""

import subprocess
import sys


def test_the_page_asks_for_the_token(browser, runs, tmp_path):
    file = tmp_path / "token"
    file.write_text("a-token-of-tests-0123456789\n", encoding="utf-8")
    command = [sys.executable, "-m", "clausal", "serve", str(runs / "odd"), "--port", "0", "--token-file", str(file)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        address = process.stdout.readline().strip()
        page = browser.new_page()
        page.goto(address)
        page.get_by_label("Token").fill("a-token-of-tests-0123456789")
        page.get_by_role("button", name="Enter").click()
        page.wait_for_selector("h1:text-is('odd')")
        page.goto(f"{address}/#/training")
        page.wait_for_selector("h1:text-is('Training of odd')")
        page.close()
    finally:
        process.terminate()
        process.communicate(timeout=30)
