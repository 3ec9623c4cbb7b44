import SatchelJSON

/// What a check of a story found.
public struct StoryReport: Sendable {
  /// In the order of the file.
  public var findings: [StoryFinding]
  /// Facts about the story as it was read.
  public var statistics: StoryStatistics

  /// How many findings are errors.
  public var errorCount: Int { findings.reduce(0) { $0 + ($1.severity == .error ? 1 : 0) } }
  /// How many findings are warnings.
  public var warningCount: Int { findings.count - errorCount }
  /// Whether nothing is wrong that would break the story; warnings are allowed.
  public var isSound: Bool { errorCount == 0 }

  /// {"ok", "findings", "errors", "warnings", "statistics"}.
  public var json: JSONValue {
    [
      "ok": .bool(isSound), "findings": .array(findings.map(\.json)), "errors": .int(Int64(errorCount)),
      "warnings": .int(Int64(warningCount)), "statistics": statistics.json,
    ]
  }
}

extension StoryReport {
  /// `json` as bytes, without a tree of all findings in between.
  public func serialized() throws -> [UInt8] {
    var bytes = Array("{\"ok\":\(isSound),\"findings\":[".utf8)
    for (index, finding) in findings.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      try finding.json.write(into: &bytes)
    }
    bytes.append(contentsOf: "],\"errors\":\(errorCount),\"warnings\":\(warningCount),\"statistics\":".utf8)
    try statistics.json.write(into: &bytes)
    bytes.append(UInt8(ascii: "}"))
    return bytes
  }

  init(_ analysis: StoryAnalysis) {
    findings = FindingWriter(analysis).findings(StoryRules.faults(of: analysis))
    statistics = StoryStatistics(analysis)
  }

  /// Checks a story's text.
  ///
  /// - Parameter text: a story as JSON, or Twee 3
  /// - Throws: `SatchelError` `.invalid` with line, column and cause where the text is neither
  public static func check(_ text: UnsafeRawBufferPointer, source: StorySource = .automatic) throws
    -> StoryReport
  {
    StoryReport(try StoryAnalysis(source.read(text)))
  }

  /// Checks a story's text; as for lent bytes.
  public static func check(_ text: some Sequence<UInt8>, source: StorySource = .automatic) throws
    -> StoryReport
  {
    try Array(text).withUnsafeBytes { try check($0, source: source) }
  }
}
