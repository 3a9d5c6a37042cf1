"""The documents: their commands do what they say, and what they name is there. documents.py has the conventions."""
import functools
import json
import re
import subprocess
import unittest

import documents
from harness import BIN, ROOT

INLINE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
# Options of other programs that are named without them.
FOREIGN = {"--crlf": "ripgrep", "--no-unicode": "ripgrep", "--init": "docker", "--stop-timeout": "docker",
           "--cap-drop": "docker", "--cap-add": "docker", "--security-opt": "docker", "--proxy-timeout": "agent-sandbox",
           "--cache": "bench/search", "--long": "an example", "--token": "an example", "--strict": "the inspector of MCP",
           **dict.fromkeys(("--dangerously-skip-permissions", "--dangerously-bypass-approvals-and-sandbox", "--settings",
                            "--profile", "--allowed-mcp-server-names", "--approval-mode=yolo"), "agents"),
           **dict.fromkeys(("--bind", "--version", "--proxy", "--resolve", "--connect-to", "--config", "--unix-socket"),
                           "programs that the command policy knows")}
# Variables of others.
NOT_OURS = {"SHARED_WORKSPACE", "GITHUB_TOKEN", "GEMINI_CLI_TRUST_WORKSPACE", "OPENCODE_CONFIG", "OPENCODE_PERMISSION",
            "CAP_SYS_ADMIN", "CAP_SYS_PTRACE", "SYS_PTRACE"}
# Words of the ten questions of a new user, in the order of the README.
QUESTIONS = (("only some hosts", "network"), (".env",), ("two directories",), ("yesterday",), ("compose",), ("memory limit",),
             ("python",), ("dev server",), ("uninstall", "files"), ("macos",))
# Files that only stand for others.
EXAMPLES = {"src/a.c", "src/tools/name.c", "tests/api/test_name.py"}


@functools.cache
def help_of(verb):
    """The help of a verb; "" when there is none."""
    done = subprocess.run([BIN, "help", verb], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


@functools.cache
def all_help():
    verbs = re.findall(r"^  ([a-z]+)  ", subprocess.run([BIN, "help"], capture_output=True, text=True,
                                                       check=True).stdout, re.M)
    return "\n".join(help_of(verb) for verb in verbs)


def has_option(text, option):
    return re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", text) is not None


def misnamed(text):
    """What code or commands name that does not exist."""
    text = re.sub(r"(?m)(?<=\s)#.*", "", text)
    yield from (f"sidecar {verb}" for verb in re.findall(r"(?m)^sidecar ([a-z]+)\b", text) if not help_of(verb))
    for verb, rest in re.findall(r"(?<![\w./-])sidecar ([a-z]+)\b([^|;&\n]*)", text):
        options = rest.split(" -- ")[0] if verb != "run" else ""
        yield from (f"sidecar {verb} {option}" for option in re.findall(r"(?<=\s)--[a-z][\w-]*", options)
                    if help_of(verb) and not has_option(help_of(verb), option))
    for program, rest in re.findall(r"(?<![\w./-])((?:bench|scripts|tests)/[\w/.-]+)([^|;&\n]*)", text):
        path = ROOT / program
        yield from (f"{program} {option}" for option in re.findall(r"(?<=\s)--[a-z][\w-]*", rest)
                    if path.is_file() and option not in path.read_text())
    if re.fullmatch(r"--[a-z][\w-]*( .*)?", text) and text.split()[0] not in FOREIGN:
        yield from (option for option in [text.split()[0]] if not has_option(all_help(), option))
    for name in set(re.findall(r"\bSIDECAR_[A-Z0-9_]+", text)):
        if name not in help_of("serve"):
            yield name
    for target in re.findall(r"(?:^|\s)make ([a-z]+)\b", text):
        if not re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.M):
            yield f"make {target}"
    folders = ("bench|deploy|docs|examples|include|man|scripts|src|tests|api|base|cli|client|config|doctor|exec|mcp|net|"
               "policy|regex|sandbox|scrub|search|service|tools|workspace")
    for name in set(re.findall(rf"(?<![\w./<~-])((?:{folders})/[\w./-]*\w\.\w+)(?![\w*<])", text)) - EXAMPLES:
        if not (ROOT / name).exists() and not (ROOT / "src" / name).exists():
            yield name


def slugs(text):
    """The anchors that GitHub makes of headings."""
    headings = re.findall(r"^#+ (.*)", documents.FENCE.sub("", text), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


class Docs(unittest.TestCase):
    def try_block(self, block, files):
        """Runs a block, or looks at what it names and returns why it was not run."""
        syntax = subprocess.run(["bash", "-n"], input=block.commands(), text=True, capture_output=True, check=False)
        self.assertEqual(syntax.stderr, "")
        why = block.why_not()
        if why:
            self.assertEqual(list(misnamed(block.text)), [])
            return why
        self.assertNotRegex(block.commands(), documents.CHANGES_MACHINE)
        trouble = documents.run(block, files)
        self.assertFalse(trouble, trouble)
        return ""

    def test_commands(self):
        """Each block of commands does what the document shows; those that cannot be run are at least not wrong."""
        ran, checked, lacking = 0, [], set()
        for block, files in documents.runs():
            with self.subTest(str(block)):
                why = self.try_block(block, files)
                if not why:
                    ran += 1
                    continue
                checked.append(f"{block}: {why}")
                if not block.info.startswith("no-test:"):
                    lacking.add(why)
        print(f"# {ran} blocks of commands ran, {len(checked)} were only checked:", *checked, sep="\n#   ")
        if lacking:
            self.skipTest("; ".join(sorted(lacking)))

    def test_exchanges(self):
        """What stands below the heading of a request is what is answered."""
        exchanges = [block for block in documents.all_blocks() if block.is_exchange()]
        print(f"# {len(exchanges)} requests of the documents are sent")
        for block in exchanges:
            with self.subTest(str(block)):
                trouble = documents.exchange(block)
                self.assertFalse(trouble, trouble)

    def test_every_block_is_known(self):
        """A block without a word has no commands, and a program has a name by which it is run."""
        for block in documents.all_blocks():
            with self.subTest(str(block)):
                self.assertIn(block.language, ("", "sh", "console", "json", "c", "python", "text"))
                if block.language == "":
                    self.assertNotRegex(block.text, r"(?m)^(\$ |(sidecar|make|curl|docker|bench/\w+|cc) |[{\[])")
                if block.language == "c":
                    self.assertRegex(block.info, r"\.c$")
                if block.is_commands():
                    self.assertRegex(block.info, r"^(|no-test: .+|(terminal )?numbers-vary|terminal)$")

    def test_json(self):
        """It is JSON when what was left out is filled in."""
        for block in documents.all_blocks():
            if block.language != "json":
                continue
            text = re.sub(r",…(?=[}\]])|(?<=[{\[])…", "", block.text)
            text = re.sub(r":…", ":null", text)
            with self.subTest(str(block)):
                try:
                    json.loads(text)
                except ValueError:
                    for line in text.splitlines():
                        json.loads(line)

    def test_names(self):
        """Commands, options, variables, targets and files that the text names are there."""
        for path in documents.documents():
            text = documents.FENCE.sub("", path.read_text())
            spans = [match[2].replace("\n", " ") for match in INLINE.finditer(text)]
            with self.subTest(path.name):
                self.assertEqual([name for span in spans for name in misnamed(span)], [])
                for value in re.findall(r"'(\{.*?\})'", "\n".join(spans)):
                    json.loads(value)
        self.assertEqual(list(misnamed(re.sub(r"(?m)^ +", "", all_help()))), [], "in the help")

    def test_sources(self):
        """Source files, codes, variables, metrics, functions and structures that are named exist."""
        sources = [*ROOT.glob("src/**/*.[ch]"), *ROOT.glob("tests/**/*.[ch]"), *ROOT.glob("include/*.h"),
                   *ROOT.glob("examples/*.c"), *ROOT.glob("bench/*.c")]
        files = {path.name for path in sources}
        code = "\n".join(path.read_text() for path in sources)
        for path in documents.documents():
            spans = "\n".join(match[2] for match in INLINE.finditer(documents.FENCE.sub("", path.read_text())))
            with self.subTest(path.name):
                named = set(re.findall(r"(?<![\w./*<>…-])(\w+\.[ch])\b", spans))
                self.assertEqual(named - files, set())
                words = set(re.findall(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b|\bsidecar_\w+", spans)) - NOT_OURS
                if path.name == "architecture.md":
                    words.update(re.findall(r"\b[a-z]+_\w+|struct \w+", spans))
                self.assertEqual({word for word in words if word not in code}, set())

    def test_links(self):
        """A link within the tree leads to a file, and to a heading in it."""
        for path in documents.documents():
            text = documents.FENCE.sub("", path.read_text())
            for target, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)", text):
                file = path.parent / target if target else path
                with self.subTest(path.name, target=target, anchor=anchor):
                    self.assertTrue(file.exists())
                    if anchor:
                        self.assertIn(anchor, slugs(file.read_text()))

    def test_index(self):
        """The README leads to every document."""
        readme = (ROOT / "README.md").read_text()
        for path in sorted((ROOT / "docs").glob("*.md")):
            self.assertIn(f"](docs/{path.name})", readme)

    def test_questions(self):
        """What people ask first is a heading in their words, and a table in the README leads to each."""
        readme = (ROOT / "README.md").read_text()
        table = dict(re.findall(r"^\| (.+?) \| \[(.+)\) \|$", readme.split("\n## Questions\n")[1].split("\n## ")[0], re.M))
        self.assertEqual(len(table), len(QUESTIONS))
        for (question, link), words in zip(table.items(), QUESTIONS):
            heading, target, anchor = re.fullmatch(r"(.+)\]\((.+)#(.+)", link).groups()
            with self.subTest(question):
                self.assertIn(f"\n## {heading}\n", (ROOT / target).read_text())
                self.assertEqual({anchor}, slugs(f"## {heading}"))
                for word in words:
                    self.assertIn(word, question.lower())
                    self.assertIn(word, heading.lower())

    def test_settings(self):
        """docs/guide.md has every setting, in the words of the help."""
        rows = set()
        for flag, variable, meaning, variables in re.findall(
                r"^  (?:(--.*)|(\w+)=.*)\n {8}(.*?)(?: \(([A-Z0-9_]+(?: and [A-Z0-9_]+)?)\))?$",
                help_of("serve").split("\nSettings,")[1], re.M):
            names = (variable or variables).replace(" and ", "`, `")
            rows.add("| %s | `%s` | %s |" % (flag and f"`{flag}`".replace("|", "\\|"), names, meaning))
        page = (ROOT / "docs/guide.md").read_text().split("\n## Every setting\n")[1]
        shown = {line for line in page.splitlines() if re.match(r"\|.*\| `", line)}
        self.assertEqual("\n".join(sorted(shown)), "\n".join(sorted(rows)))



if __name__ == "__main__":
    unittest.main()
