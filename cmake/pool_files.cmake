# cmake -DOBJECT=FILE -DSOURCE=FILE -DOUTPUT=FILE -P pool_files.cmake: backends/codegen/pool_files.h's functions.
set(text "#include \"backends/codegen/pool_files.h\"\n\nnamespace kiln {\n\n")
foreach(name OBJECT SOURCE)
  file(READ ${${name}} bytes HEX)
  string(LENGTH "${bytes}" digits)
  math(EXPR count "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" bytes "${bytes}")
  string(SUBSTRING ${name} 0 1 first)
  string(SUBSTRING ${name} 1 -1 rest)
  string(TOLOWER "${rest}" rest)
  string(APPEND text "const std::string& Pool${first}${rest}() {\n"
         "  static const auto* const bytes = new std::string(\n\"${bytes}\", ${count});\n  return *bytes;\n}\n\n")
endforeach()
file(WRITE ${OUTPUT} "${text}}  // namespace kiln\n")
