import SatchelJSON

/// The result of checking a story.
public struct StoryReport: Sendable, JSONConvertible {
  /// The maximum number of findings in a report, which bounds its memory.
  public static let maxFindings = 1_000_000

  /// The findings in the order of the file; findings beyond `maxFindings` are only counted.
  public var findings: [StoryFinding]
  /// The number of errors, including omitted ones.
  public var errorCount: Int
  /// The number of warnings, including omitted ones.
  public var warningCount: Int
  /// The statistics of the story.
  public var statistics: StoryStatistics

  /// The number of findings that were omitted.
  public var omittedCount: Int { errorCount + warningCount - findings.count }
  /// Whether the story has no errors; warnings are allowed.
  public var isSound: Bool { errorCount == 0 }

  /// A JSON object with ok, findings, errors, warnings, omitted and statistics.
  public var json: JSONValue {
    [
      "ok": .bool(isSound), "findings": .array(findings.map(\.json)), "errors": .int(Int64(errorCount)),
      "warnings": .int(Int64(warningCount)), "omitted": .int(Int64(omittedCount)),
      "statistics": statistics.json,
    ]
  }
}

extension StoryReport {
  /// Returns `json` as bytes, without building a tree of all findings.
  package func serialized() throws -> [UInt8] {
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

  /// - Parameter folder: the folder of the story's file; nil when it is unknown, so that no file is looked for
  init(_ analysis: StoryAnalysis, folder: String? = nil, maxFindings: Int = StoryReport.maxFindings) {
    let rules = StoryRules(analysis)
    var faults = rules.faults
    let missing = folder.map { MissingFiles(of: analysis.table, in: $0) }
    if let missing, !missing.faults.isEmpty {
      faults = ContiguousArray((faults + missing.faults).ordered { $0.offset < $1.offset })
    }
    errorCount = faults.reduce(0) { $0 + ($1.severity == .error ? 1 : 0) }
    warningCount = faults.count - errorCount
    findings =
      FindingFormatter(analysis, faults.prefix(maxFindings), nearest: rules.nearest, missing).findings()
    statistics = StoryStatistics(analysis)
  }

  /// Checks a story's text.
  ///
  /// - Parameters:
  ///   - text: a story
  ///   - source: the format of the text
  ///   - folder: the folder in which the files are that the story names; nil: they are not looked for
  /// - Throws: `SatchelError` `.invalid`, with line, column and cause, when the text is not in this format
  public static func check(
    _ text: UnsafeRawBufferPointer, source: StorySource, folder: String? = nil
  ) throws -> StoryReport {
    StoryReport(try StoryAnalysis(source.table(of: text)), folder: folder)
  }

  /// Checks a story's text, given as a sequence of bytes.
  public static func check(
    _ text: some Sequence<UInt8>, source: StorySource, folder: String? = nil
  ) throws -> StoryReport {
    try Array(text).withUnsafeBytes { try check($0, source: source, folder: folder) }
  }
}

extension StoryReport {
  /// Returns one line for each finding, in the form that editors and CI parse: "name:line:column: severity:
  /// message [code]".
  public func text(name: String) -> String {
    findings.reduce(into: "") { $0 += $1.text(name: name) + "\n" }
  }
}

extension StoryFinding {
  /// Returns the name of the file with the problem, for a story with a name.
  package func path(in name: String) -> String {
    guard let file else { return name }
    return name.isEmpty ? file : name.hasSuffix("/") ? name + file : "\(name)/\(file)"
  }

  /// Returns the finding as one line of text.
  public func text(name: String) -> String {
    let hint = suggestion.map { "; did you mean \"\($0)\"?" } ?? ""
    let name = path(in: name)
    // The lines of a page are long, and not those of the passage.
    let passage =
      isInPage ? passage.map { "passage \"\($0.name)\", line \($0.line), column \($0.column): " } : nil
    let line =
      "\(name):\(position.line):\(position.column): \(severity.rawValue): \(passage ?? "")\(message)\(hint)"
      + " [\(code.rawValue)]"
    // Ids are user input: a line break or a terminal escape in one must not reach the output.
    return String(
      String.UnicodeScalarView(
        line.unicodeScalars.map { $0.isTerminalControl ? "\u{FFFD}" : $0 }))
  }
}
