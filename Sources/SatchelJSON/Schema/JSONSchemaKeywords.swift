/// A keyword of a schema that has no effect, because it is not one of the draft's.
public struct JSONSchemaWarning: Sendable, Equatable, CustomStringConvertible {
  /// The RFC 6901 pointer of the keyword in the schema.
  public let pointer: String
  public let keyword: String
  /// The keyword that was probably meant; nil when none is similar.
  public let suggestion: String?

  /// Such as "/properties/n/minimun: unknown keyword, without effect: did you mean "minimum"?".
  public var description: String {
    "\(pointer): unknown keyword, without effect" + (suggestion.map { ": did you mean \"\($0)\"?" } ?? "")
  }
}

/// The keywords of draft 2020-12, and those of earlier drafts that are rejected.
enum JSONSchemaKeywords {
  /// Assertions of earlier drafts, and references that are not supported: a schema that relies on them would
  /// accept what its author forbids.
  private static let rejected: [(keyword: String, advice: String)] = [
    ("dependencies", "it is of an earlier draft: use \"dependentRequired\" or \"dependentSchemas\""),
    ("additionalItems", "it is of an earlier draft: use \"prefixItems\" with \"items\""),
    ("divisibleBy", "it is of an earlier draft: use \"multipleOf\""),
    ("disallow", "it is of an earlier draft: use \"not\""),
    ("extends", "it is of an earlier draft: use \"allOf\""),
    ("$dynamicRef", "use \"$ref\""), ("$dynamicAnchor", "use \"$anchor\""),
    ("$recursiveRef", "use \"$ref\""), ("$recursiveAnchor", "use \"$ref\""),
  ]

  private static let known: [String] = {
    var known = [
      "type", "properties", "required", "items", "enum", "const", "pattern", "multipleOf", "uniqueItems",
      "minContains", "maxContains", "dependentRequired", "title", "description", "default", "format",
      "examples", "deprecated", "readOnly", "writeOnly", "contentEncoding", "contentMediaType",
      "contentSchema", "$schema", "$id", "$ref", "$anchor", "$comment", "$vocabulary",
    ]
    known += JSONSchemaBound.allCases.map(\.rawValue)
    known += JSONSchemaCount.allCases.map(\.rawValue)
    known += JSONSchemaLocation.lists
    known += JSONSchemaLocation.single
    known += JSONSchemaLocation.maps
    return known
  }()

  private static let knownKeys = Set(known.map { JSONKey(text: $0) })

  /// Returns why a keyword is rejected; nil for others.
  static func rejection(_ keyword: String) -> String? {
    rejected.first { $0.keyword.hasSameBytes(as: keyword) }.map {
      "\"\($0.keyword)\" is not supported: \($0.advice)"
    }
  }

  /// Whether a keyword is one of the draft's, or begins with "x-", as annotations of an app do.
  static func isKnown(_ keyword: String) -> Bool {
    knownKeys.contains(JSONKey(text: keyword)) || keyword.utf8.starts(with: "x-".utf8)
  }

  /// Returns the keyword that was probably meant.
  static func suggestion(for keyword: String) -> String? {
    if isKnown("$" + keyword) { return "$" + keyword }
    return EditDistance.nearest(to: keyword, among: known)
  }
}
