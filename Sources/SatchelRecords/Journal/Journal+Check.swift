import SatchelStorage

extension Journal {
  /// What of the host's changes is not in the store: those that wait in the spill file, those that were refused.
  package func check(_ database: Database) throws -> [StoreFinding] {
    var findings: [StoreFinding] = []
    if let spill, spill.isPending {
      findings.append(
        StoreFinding(
          code: "spilled", message: "\(spill.path): holds changes that the store could not take yet"))
    }
    for entry in try refused(in: database) {
      findings.append(
        StoreFinding(
          code: "refused_change", message: "a change that was spilled was refused: \(entry.reason)"))
    }
    return findings
  }
}
