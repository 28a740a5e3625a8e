# cmake -DSOURCE=FILE -DHEADER=PATH -DFUNCTION=NAME -DOUTPUT=FILE -P text_file.cmake: const std::string& NAME(), the text
# of a file, as HEADER declares it.
file(READ ${SOURCE} bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR count "${digits} / 2")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" bytes "${bytes}")
file(WRITE ${OUTPUT} "#include \"${HEADER}\"\n\nnamespace kiln {\n\nconst std::string& ${FUNCTION}() {\n"
     "  static const auto* const text = new std::string(\n\"${bytes}\", ${count});\n  return *text;\n}\n\n"
     "}  // namespace kiln\n")
