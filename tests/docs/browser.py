# SPDX-License-Identifier: LGPL-2.1-or-later
"""Chromium without a window, told what to do through its protocol for developer tools."""

import base64
import json
import os
import select
import shutil
import subprocess
import time

LIMIT = 60      # seconds, for what should take milliseconds
NAMES = ('chromium', 'chromium-browser', 'google-chrome')


class BrowserError(Exception):
    pass


def find_browser():
    """Returns the path of the browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """A browser with one page, which takes and answers messages over two pipes."""

    def __init__(self, folder):
        command_read, self.commands = os.pipe()
        self.answers, answer_write = os.pipe()
        # The browser reads from 3 and writes to 4.
        program = f'exec "$@" 3<&{command_read} 4>&{answer_write}'
        self.process = subprocess.Popen(
            ['bash', '-c', program, 'bash', find_browser(), '--headless=new', '--no-sandbox',
             '--disable-gpu', '--hide-scrollbars', '--remote-debugging-pipe',
             f'--user-data-dir={folder}/profile', 'about:blank'],
            pass_fds=[command_read, answer_write], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(command_read)
        os.close(answer_write)
        self.buffer = b''
        self.number = 0
        self.session = None
        self.events = []
        self.attach()

    def attach(self):
        targets = self.ask('Target.getTargets')['targetInfos']
        page = next(target for target in targets if target['type'] == 'page')
        self.session = self.ask('Target.attachToTarget', targetId=page['targetId'],
                                flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Network', 'Log'):
            self.ask(f'{domain}.enable')

    def read(self, deadline):
        while b'\0' not in self.buffer:
            ready, _, _ = select.select([self.answers], [], [], deadline - time.monotonic())
            data = os.read(self.answers, 1 << 20) if ready else b''
            if not data:
                raise BrowserError('the browser does not answer')
            self.buffer += data
        message, _, self.buffer = self.buffer.partition(b'\0')
        return json.loads(message)

    def ask(self, method, **parameters):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': parameters}
        if self.session:
            message['sessionId'] = self.session
        os.write(self.commands, json.dumps(message).encode() + b'\0')
        deadline = time.monotonic() + LIMIT
        while (answer := self.read(deadline)).get('id') != self.number:
            self.events.append(answer)
        if 'error' in answer:
            raise BrowserError(f'{method}: {answer["error"]["message"]}')
        return answer['result']

    def wait_for_event(self, name):
        deadline = time.monotonic() + LIMIT
        while all(event.get('method') != name for event in self.events):
            self.events.append(self.read(deadline))

    def open(self, address):
        self.events.clear()
        self.ask('Page.navigate', url=address)
        self.wait_for_event('Page.loadEventFired')

    def show_as(self, width, height, scheme):
        """Sets the size of the window, and the colour scheme that the user prefers."""
        self.ask('Emulation.setDeviceMetricsOverride', width=width, height=height,
                 deviceScaleFactor=1, mobile=width < 600)
        self.ask('Emulation.setEmulatedMedia',
                 features=[{'name': 'prefers-color-scheme', 'value': scheme},
                           {'name': 'prefers-reduced-motion', 'value': 'reduce'}])

    def run(self, program):
        """Returns the value of an expression in JavaScript, awaited if it is a promise."""
        answer = self.ask('Runtime.evaluate', expression=program, awaitPromise=True,
                          returnByValue=True)
        if 'exceptionDetails' in answer:
            details = answer['exceptionDetails']
            raise BrowserError(details.get('exception', {}).get('description', details['text']))
        return answer['result'].get('value')

    def wait_until(self, condition):
        deadline = time.monotonic() + LIMIT
        while not self.run(condition):
            if time.monotonic() > deadline:
                raise BrowserError(f'not within {LIMIT} s: {condition}')
            time.sleep(0.02)

    def press(self, key, text=''):
        for kind in ('keyDown', 'keyUp'):
            self.ask('Input.dispatchKeyEvent', type=kind, key=key, code=key,
                     windowsVirtualKeyCode={'Tab': 9, 'Enter': 13, 'Escape': 27}.get(key, 0),
                     text=text if kind == 'keyDown' else '')

    def get_requests(self):
        """Returns the addresses that the page has asked for since it was opened."""
        return [event['params']['request']['url'] for event in self.events
                if event.get('method') == 'Network.requestWillBeSent']

    def get_complaints(self):
        """Returns what the page had to say on the console, and its errors."""
        complaints = []
        for event in self.events:
            if event.get('method') == 'Runtime.exceptionThrown':
                complaints.append(event['params']['exceptionDetails']['text'])
            elif event.get('method') == 'Log.entryAdded':
                complaints.append(event['params']['entry']['text'])
        return complaints

    def save_picture(self, path, whole=False):
        data = self.ask('Page.captureScreenshot', captureBeyondViewport=whole)['data']
        path.write_bytes(base64.b64decode(data))

    def close(self):
        self.process.terminate()
        self.process.wait()
        os.close(self.commands)
        os.close(self.answers)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
