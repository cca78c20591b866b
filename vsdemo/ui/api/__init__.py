"""What programs may call: the same endpoints over HTTP, by Gradio's clients and as MCP tools."""
