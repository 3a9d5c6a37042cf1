"""Ending in order: running calls finish, the others are let go of, the socket goes."""
import json
import os
import signal
import socket
import threading
import unittest

from harness import SidecarTest, post, read_answer, until


class Shutdown(SidecarTest):
    def check_ended(self, server, status):
        self.assertEqual(status, 0, server.log())
        self.assertFalse(os.path.exists(server.socket))

    def begin_to_stop(self, server):
        server.process.send_signal(signal.SIGTERM)
        server.wait_for_log(lambda line: line["msg"] == "stopping")

    def test_nobody_there(self):
        for how in (signal.SIGTERM, signal.SIGINT):
            server = self.start()
            self.check_ended(server, server.stop(how))

    def test_idle_clients(self):
        server = self.start(env={"SIDECAR_GRACE_SECONDS": "3600"})
        idle = [server.connect() for _ in range(50)]
        used = server.connect()
        used.sendall(post("/ls", "{}"))
        self.assertEqual(read_answer(used.makefile("rb")).status, 200)
        self.check_ended(server, server.stop())
        for s in idle:
            self.assertEqual(s.recv(1), b"")
            s.close()
        used.close()

    def test_half_a_request(self):
        server = self.start()
        with server.connect() as head, server.connect() as body:
            head.sendall(b"POST /ls HTTP/1.1\r\nHost:")
            body.sendall(post("/ls", "{" + " " * 5000)[:-100])
            server.request("GET", "/health")  # taken in after both
            self.check_ended(server, server.stop())

    def test_answer_under_way_is_finished(self):
        server = self.start()
        server.put("big.png", os.urandom(8 << 20))
        with server.connect() as s, s.makefile("rb") as stream:
            s.sendall(post("/read", '{"path":"big.png"}'))
            self.assertTrue(stream.peek(1))
            self.begin_to_stop(server)
            answer = read_answer(stream)
        self.assertEqual(len(answer.json()["result"]["data"]), ((8 << 20) + 2) // 3 * 4)
        self.check_ended(server, server.stop())

    def test_a_command_is_ended_and_its_client_told(self):
        server = self.start(env={"SIDECAR_GRACE_SECONDS": "1"})
        answers = {}

        def ask(tool):
            answers[tool] = server.call(tool, command="echo begun; touch %s; sleep 60" % tool[-4:])

        threads = [threading.Thread(target=ask, args=(tool,)) for tool in ("bash", "tools/run_command")]
        for t in threads:
            t.start()
        until(lambda: all(os.path.exists(server.path(name)) for name in ("bash", "mand")), "both commands run")
        self.check_ended(server, server.stop())
        for t in threads:
            t.join()
        delta, done = [json.loads(line) for line in answers["bash"].body.splitlines()]
        self.assertEqual(delta, {"type": "delta", "data": "begun\n", "stream": "stdout"})
        done.pop("change", None)  # where its commands are observed
        self.assertEqual(done, {"type": "done", "exitCode": -1})
        self.assertEqual(answers["tools/run_command"].json()["output"]["stdout"], "begun\n")
        self.assertIsNone(answers["tools/run_command"].json()["output"]["exit_code"])

    def test_stalled_reader_is_given_up(self):
        server = self.start(env={"SIDECAR_GRACE_SECONDS": "1"})
        server.put("big.png", os.urandom(8 << 20))
        with server.connect() as s:
            s.sendall(post("/read", '{"path":"big.png"}'))
            s.recv(1)
            self.check_ended(server, server.stop())

    def test_second_signal_is_quick(self):
        server = self.start(env={"SIDECAR_GRACE_SECONDS": "3600"})
        server.put("big.png", os.urandom(8 << 20))
        with server.connect() as s:
            s.sendall(post("/read", '{"path":"big.png"}'))
            s.recv(1)
            self.begin_to_stop(server)
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
        until(lambda: len(got) > 50 or wrong, "fifty answers")
        self.check_ended(server, server.stop())
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_another_servers_socket_stays(self):
        server = self.start()
        os.unlink(server.socket)
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(server.socket)
            self.assertEqual(server.stop(), 0)
            self.assertTrue(os.path.exists(server.socket))


if __name__ == "__main__":
    unittest.main()
