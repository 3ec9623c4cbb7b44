import SatchelJSON

/// What a check of a story found.
public struct StoryReport: Sendable {
  /// How many findings are put into words. A file of nothing but faults must not cost more memory than its host has.
  public static let mostFindings = 1_000_000

  /// In the order of the file; beyond `mostFindings` the rest is only counted.
  public var findings: [StoryFinding]
  /// How many findings are errors, those that are left out too.
  public var errorCount: Int
  /// How many findings are warnings, those that are left out too.
  public var warningCount: Int
  /// Facts about the story as it was read.
  public var statistics: StoryStatistics

  /// How many findings were left out.
  public var omittedCount: Int { errorCount + warningCount - findings.count }
  /// Whether nothing is wrong that would break the story; warnings are allowed.
  public var isSound: Bool { errorCount == 0 }

  /// {"ok", "findings", "errors", "warnings", "omitted", "statistics"}.
  public var json: JSONValue {
    [
      "ok": .bool(isSound), "findings": .array(findings.map(\.json)), "errors": .int(Int64(errorCount)),
      "warnings": .int(Int64(warningCount)), "omitted": .int(Int64(omittedCount)),
      "statistics": statistics.json,
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
    bytes.append(
      contentsOf:
        "],\"errors\":\(errorCount),\"warnings\":\(warningCount),\"omitted\":\(omittedCount),\"statistics\":"
        .utf8)
    try statistics.json.write(into: &bytes)
    bytes.append(UInt8(ascii: "}"))
    return bytes
  }

  init(_ analysis: StoryAnalysis, most: Int = mostFindings) {
    let faults = StoryRules.faults(of: analysis)
    errorCount = faults.reduce(0) { $0 + ($1.severity == .error ? 1 : 0) }
    warningCount = faults.count - errorCount
    findings = FindingWriter(analysis).findings(faults.prefix(most))
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
