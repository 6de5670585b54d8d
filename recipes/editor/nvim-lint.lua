require("lint").linters.unpend = {
  cmd = "unpend",
  stdin = true,
  args = { "check", "-", "--allow-empty", "--output", "lsp", "--stdin-filename", function() return vim.api.nvim_buf_get_name(0) end },
  ignore_exitcode = true,
  parser = function(output, bufnr)
    local found = {}
    local uri = vim.uri_from_bufnr(bufnr)
    for _, file in ipairs(vim.json.decode(output)) do
      if file.uri == uri then
        for _, d in ipairs(file.diagnostics) do
          table.insert(found, {
            lnum = d.range.start.line, col = d.range.start.character,
            end_lnum = d.range["end"].line, end_col = d.range["end"].character,
            severity = d.severity, code = d.code, source = d.source, message = d.message,
          })
        end
      end
    end
    return found
  end,
}
require("lint").linters_by_ft = { yaml = { "unpend" } }
