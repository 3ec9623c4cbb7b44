import SatchelJSON

/// Writes findings in SARIF 2.1.0 (OASIS), which code hosts and editors display at their locations.
package enum SARIF {
  private static let schema = "https://json.schemastore.org/sarif-2.1.0.json"

  /// Returns a SARIF log with one run.
  ///
  /// - Parameters:
  ///   - files: each file's name, relative to the root of the analysis, and its findings
  ///   - version: the version of the tool, "major.minor.patch"
  package static func log(_ files: [(name: String, findings: [StoryFinding])], version: String) -> JSONValue {
    let codes = StoryFinding.Code.allCases
    let rules = codes.map { code -> JSONValue in
      [
        "id": .string(code.rawValue), "shortDescription": ["text": .string(code.summary)],
        "defaultConfiguration": ["level": .string(code.severity.rawValue)],
      ]
    }
    let ruleIndices = Dictionary(uniqueKeysWithValues: codes.enumerated().map { ($1, Int64($0)) })
    let results = files.flatMap { file in
      let uri = reference(file.name)
      return file.findings.map {
        let own = $0.file == nil ? uri : reference($0.path(in: file.name))
        return result($0, rule: ruleIndices[$0.code] ?? 0, uri: own)
      }
    }
    return [
      "$schema": .string(schema), "version": "2.1.0",
      "runs": [
        [
          "tool": [
            "driver": [
              "name": "satchel", "semanticVersion": .string(version), "rules": .array(rules),
            ]
          ],
          "columnKind": "unicodeCodePoints",
          "results": .array(results),
        ]
      ],
    ]
  }

  private static func result(_ finding: StoryFinding, rule: Int64, uri: String) -> JSONValue {
    let hint = finding.suggestion.map { " Did you mean \"\($0)\"?" } ?? ""
    return [
      "ruleId": .string(finding.code.rawValue), "ruleIndex": .int(rule),
      "level": .string(finding.severity.rawValue), "message": ["text": .string(finding.message + "." + hint)],
      "locations": [
        [
          "physicalLocation": [
            "artifactLocation": ["uri": .string(uri)],
            "region": [
              "startLine": .int(Int64(finding.position.line)),
              "startColumn": .int(Int64(finding.scalarColumn)),
            ],
          ],
          "logicalLocations": [["fullyQualifiedName": .string(finding.pointer)]],
        ]
      ],
    ]
  }

  /// Returns a file's name as a URI reference (RFC 3986): percent-encodes the bytes that a path does not
  /// allow.
  private static func reference(_ name: String) -> String {
    var result = ""
    for byte in name.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"), UInt8(ascii: "/"):
        result.unicodeScalars.append(UnicodeScalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        result += "%" + (digits.utf8.count == 1 ? "0" : "") + digits
      }
    }
    return result
  }
}
