-- Whether a query is a tool of its own over MCP; null or true: it is.
alter table queries add column as_tool boolean;
alter table query_versions add column as_tool boolean;
