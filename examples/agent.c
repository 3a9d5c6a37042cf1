/* SPDX-License-Identifier: MIT */
/*
 * agent SOCKET: the loop of an agent. It gives the definitions of the tools to the model, the
 * model's calls to the sidecar, and the observations back to the model, until the model calls no
 * more tools. Here the model is a script; put a request to a real one into model_next.
 */

#include <sidecar.h>
#include <stdio.h>
#include <string.h>

/* What a model answers: a tool to call and its arguments; or, if tool is NULL, its final text. */
struct turn {
	const char *tool, *text;
};

/* The model's next answer. A real model is sent `definitions` and the whole conversation. */
static struct turn model_next(const char *definitions, const char *observation)
{
	if (!strstr(definitions, "\"write_file\""))
		return (struct turn){ NULL, "I have no tools." };
	if (!observation)
		return (struct turn){ "write_file",
				      "{\"path\":\"hello.py\",\"content\":\"print(6 * 7)\\n\"}" };
	if (strstr(observation, "\"tool\":\"write_file\""))
		return (struct turn){ "search_files", "{\"pattern\":\"6 * 7\",\"literal\":true}" };
	return (struct turn){ NULL, strstr(observation, "hello.py") ? "It is in hello.py."
								    : "I cannot find it." };
}

int main(int argc, char **argv)
{
	const struct sidecar_settings settings = { .socket_path = argc > 1 ? argv[1] : NULL,
						   .session = "agent" };
	struct sidecar_error error;
	struct sidecar_observation *seen = NULL;

	struct sidecar *sidecar = sidecar_open(&settings, &error);
	struct sidecar_text *tools =
		sidecar ? sidecar_tools(sidecar, "ollama", NULL, &error) : NULL;
	while (tools) {
		const struct turn turn = model_next(tools->content, seen ? seen->json : NULL);
		sidecar_free(seen);
		seen = NULL;
		if (!turn.tool) {
			(void)puts(turn.text);
			break;
		}
		(void)printf("> %s %s\n", turn.tool, turn.text);
		seen = sidecar_call_tool(sidecar, turn.tool, turn.text, &error);
		if (!seen)
			break;
		(void)printf("< %s\n", seen->success ? "success" : seen->message);
	}
	if (!tools)
		(void)fprintf(stderr, "%s: %s\n", error.code, error.message);
	const int status = tools ? 0 : 1;
	sidecar_free(tools);
	sidecar_close(sidecar);
	return status;
}
