"""Ending in order: running calls finish, the others are let go of, the socket goes."""
import json
import os
import signal
import socket
import threading
import time
import unittest

from harness import SidecarTest, post, read_answer


class Shutdown(SidecarTest):
    def check_ended(self, server, status):
        self.assertEqual(status, 0, server.log())
        self.assertFalse(os.path.exists(server.socket))

    def test_nobody_there(self):
        for how in (signal.SIGTERM, signal.SIGINT):
            server = self.start()
            self.check_ended(server, server.stop(how))

    def test_idle_clients(self):
        server = self.start()
        idle = [server.connect() for _ in range(50)]
        used = server.connect()
        used.sendall(post("/ls", "{}"))
        self.assertEqual(read_answer(used.makefile("rb")).status, 200)
        began = time.monotonic()
        self.check_ended(server, server.stop())
        self.assertLess(time.monotonic() - began, 8)  # not the grace time
        for s in idle:
            self.assertEqual(s.recv(1), b"")
            s.close()
        used.close()

    def test_half_a_request(self):
        server = self.start()
        with server.connect() as head, server.connect() as body:
            head.sendall(b"POST /ls HTTP/1.1\r\nHost:")
            body.sendall(post("/ls", "{" + " " * 5000)[:-100])
            time.sleep(0.1)
            self.check_ended(server, server.stop())

    def test_answer_under_way_is_finished(self):
        server = self.start()
        server.put("big.png", os.urandom(8 << 20))
        with server.connect() as s, s.makefile("rb") as stream:
            s.sendall(post("/read", '{"path":"big.png"}'))
            self.assertTrue(stream.peek(1))
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            answer = read_answer(stream)
        self.assertEqual(len(answer.json()["result"]["data"]), ((8 << 20) + 2) // 3 * 4)
        self.check_ended(server, server.stop())

    def test_a_command_is_ended_and_its_client_told(self):
        server = self.start(env={"SIDECAR_GRACE_SECONDS": "1"})
        answers = {}

        def ask(tool):
            answers[tool] = server.call(tool, command="echo begun; sleep 60")

        threads = [threading.Thread(target=ask, args=(tool,)) for tool in ("bash", "tools/run_command")]
        for t in threads:
            t.start()
        time.sleep(0.3)
        self.check_ended(server, server.stop())
        for t in threads:
            t.join()
        self.assertEqual([json.loads(line) for line in answers["bash"].body.splitlines()],
                         [{"type": "delta", "data": "begun\n", "stream": "stdout"}, {"type": "done", "exitCode": -1}])
        self.assertEqual(answers["tools/run_command"].json()["output"]["stdout"], "begun\n")
        self.assertIsNone(answers["tools/run_command"].json()["output"]["exit_code"])

    def test_stalled_reader_is_given_up(self):
        server = self.start(env={"SIDECAR_GRACE_SECONDS": "1"})
        server.put("big.png", os.urandom(8 << 20))
        with server.connect() as s:
            s.sendall(post("/read", '{"path":"big.png"}'))
            s.recv(1)
            began = time.monotonic()
            self.check_ended(server, server.stop())
            self.assertLess(time.monotonic() - began, 15)

    def test_second_signal_is_quick(self):
        server = self.start(env={"SIDECAR_GRACE_SECONDS": "3600"})
        server.put("big.png", os.urandom(8 << 20))
        with server.connect() as s:
            s.sendall(post("/read", '{"path":"big.png"}'))
            s.recv(1)
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            self.check_ended(server, server.stop())

    def test_under_load_every_answer_is_whole(self):
        server = self.start()
        server.put("f", "x" * 3000)
        wrong, got = [], []

        def ask():
            while True:
                try:
                    with server.connect() as s, s.makefile("rb") as stream:
                        while True:
                            s.sendall(post("/read", '{"path":"f"}'))
                            answer = read_answer(stream)
                            if answer is None:
                                break
                            got.append(1)
                            if len(answer.json()["result"]["content"]) != 3000:
                                wrong.append(answer.body)
                except (ConnectionResetError, BrokenPipeError):
                    continue
                except OSError:
                    return  # the socket is gone
        threads = [threading.Thread(target=ask) for _ in range(8)]
        for t in threads:
            t.start()
        time.sleep(0.5)
        self.check_ended(server, server.stop())
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])
        self.assertGreater(len(got), 50)

    def test_another_servers_socket_stays(self):
        server = self.start()
        os.unlink(server.socket)
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(server.socket)
            self.assertEqual(server.stop(), 0)
            self.assertTrue(os.path.exists(server.socket))


if __name__ == "__main__":
    unittest.main()
