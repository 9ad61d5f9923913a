#pragma once
// JSON that came from somebody else's file. Stricter than the library alone: a duplicate key is refused (two readers
// would see two different files) and so is deep nesting (some later walk over the document would be recursive).

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/records/json_read.h"
#include "core/records/result.h"

namespace kernelscope {

/// Parses `text`, whose top level must be an object and which nests at most kMaxJsonDepth levels deep. Errors: badInput, as "<what>: <cause> at line L, column C".
Result<nlohmann::json> parseJsonObject(std::string_view text, const std::string& what);

/// For messages: what kind of value this is, "a string", "a number", "null", ...
std::string_view kindOf(const nlohmann::json& value);

/// A value in a message: its JSON text, cut to a readable length; never throws, whatever bytes it holds.
std::string shown(const nlohmann::json& value);

}  // namespace kernelscope
