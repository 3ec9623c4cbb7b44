import SatchelCore

/// A rule about the rows of a subject's tables: `check` reports the rows that break it, and `recover` mends them.
package struct Invariant: Sendable {
  private enum Report {
    /// All offending rows are one finding; "%" in the message is their number.
    case count(String)
    /// Each is a finding; "%" in the message is its first column.
    case each(String)
  }

  private let code: String
  private let report: Report
  private let offenders: String
  private let mending: String

  /// A rule whose violations are reported together.
  ///
  /// - Parameters:
  ///   - message: for people, with "%" for the number of offending rows
  ///   - offenders: the query that returns them
  ///   - mending: the statements that mend them; empty where the store does not have what was lost
  package init(_ code: String, counted message: String, offenders: String, mending: String = "") {
    (self.code, report, self.offenders, self.mending) = (code, .count(message), offenders, mending)
  }

  /// A rule whose violations are reported one by one, with "%" in the message for the first column of the row.
  package init(_ code: String, each message: String, offenders: String, mending: String = "") {
    (self.code, report, self.offenders, self.mending) = (code, .each(message), offenders, mending)
  }

  fileprivate func findings(_ connection: Connection) throws -> [StoreFinding] {
    var findings: [StoreFinding] = []
    func add(_ message: String, _ value: String) {
      let parts = message.split(separator: "%" as Character, maxSplits: 1, omittingEmptySubsequences: false)
      findings.append(StoreFinding(code: code, message: parts.joined(separator: value)))
    }
    switch report {
    case .count(let message):
      var count = Int64(0)
      try connection.visit("SELECT count(*) FROM (\(offenders))") { count = $0.anyInteger(0) }
      if count > 0 { add(message, "\(count)") }
    case .each(let message):
      try connection.visit(offenders) { add(message, $0.text(0)) }
    }
    return findings
  }

  fileprivate func mend(_ connection: Connection) throws {
    if !mending.isEmpty { try connection.execute(mending) }
  }
}

extension Connection {
  /// Returns the violations of rules.
  package func findings(of rules: [Invariant]) throws -> [StoreFinding] {
    try rules.flatMap { try $0.findings(self) }
  }

  /// Mends the violations of rules, in their order.
  package func mend(_ rules: [Invariant]) throws {
    for rule in rules { try rule.mend(self) }
  }
}
