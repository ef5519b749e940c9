# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chromium without a window, driven by chromedriver's plain HTTP."""
import base64
import json
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.request

KEYS = {"tab": "\ue004", "enter": "\ue007", "escape": "\ue00c", "end": "\ue010",
        "home": "\ue011", "left": "\ue012", "up": "\ue013", "right": "\ue014",
        "down": "\ue015", "page down": "\ue00f"}


def is_there():
    return bool(shutil.which("chromedriver"))


class Browser:
    def __init__(self, folder):
        os.makedirs(folder, exist_ok=True)
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env={**os.environ, "HOME": folder})
        for line in self.driver.stdout:
            if "successfully on port" in line:
                self.port = int(line.split("on port")[1].strip(" .\n"))
                break
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu",
                     "--disable-dev-shm-usage", "--user-data-dir=" + folder + "/chrome",
                     "--disable-background-networking", "--window-size=1280,900"]
        wanted = {"browserName": "chrome", "goog:chromeOptions": {"args": arguments},
                  "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        made = self._call("POST", "/session",
                          {"capabilities": {"alwaysMatch": wanted}})
        self.path = "/session/" + made["sessionId"]

    def _call(self, method, path, body=None):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=200) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()[:800]) from None

    def call(self, method, path, body=None):
        return self._call(method, self.path + path, body)

    def run(self, script, *arguments):
        """What a function with this body returns."""
        return self.call("POST", "/execute/sync",
                         {"script": script, "args": list(arguments)})

    def tell(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute",
                         {"cmd": command, "params": parameters})

    def show(self, width, height, scheme="light", media=""):
        self.tell("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.tell("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, path):
        """A page; it is read when it says so."""
        self.call("POST", "/url", {"url": "file://" + os.path.abspath(path)})
        for _ in range(4000):
            if self.run("return document.documentElement.dataset.ready || "
                        "document.getElementById('about').textContent"
                        ".startsWith('The data')"):
                return
            time.sleep(0.05)
        raise RuntimeError("the page was not ready")

    def press(self, *keys):
        actions = []
        for key in keys:
            value = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": value},
                        {"type": "keyUp", "value": value}]
        self.call("POST", "/actions", {"actions": [
            {"type": "key", "id": "keyboard", "actions": actions}]})

    def click(self, selector):
        """At the middle of an element, as a mouse does."""
        element = self.call("POST", "/element",
                            {"using": "css selector", "value": selector})
        self.call("POST", f"/element/{next(iter(element.values()))}/click", {})

    def picture(self, path):
        data = self.tell("Page.captureScreenshot", format="png",
                         captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def complaints(self):
        return [entry["message"] for entry in
                self.call("POST", "/se/log", {"type": "browser"})]

    def requests(self):
        """The addresses that were asked for."""
        found = []
        for entry in self.call("POST", "/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found

    def close(self):
        try:
            self._call("DELETE", self.path)
        finally:
            self.driver.terminate()
            self.driver.wait()
