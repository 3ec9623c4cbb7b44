import SatchelStorage

extension Catalogue {
  /// What holds in every sound catalogue, and does not here. Reads all references.
  package func check() throws -> [StoreFinding] {
    try database.read { connection in
      var findings: [StoreFinding] = []
      func find(_ code: String, _ message: String) {
        findings.append(StoreFinding(code: code, message: message))
      }
      var uses: [Int64: Int64] = [:]
      try connection.each(
        "SELECT s.name, c.holes FROM section s LEFT JOIN section_content c ON c.section = s.id"
      ) {
        if $0.isNull(1) {
          find("missing_content", "section \($0.text(0)) has no content")
        }
        for row in Set(HoleCoding.decodeSection($0.bytes(1)).map(\.target.entity)) {
          uses[row, default: 0] += 1
        }
      }
      try connection.each(
        "SELECT e.id, e.entity_id, e.uses, e.size, length(c.body) FROM entity e LEFT JOIN entity_content c ON c.entity = e.id"
      ) { row in
        let expected = uses.removeValue(forKey: row.anyInteger(0)) ?? 0
        let id = row.text(1)
        if row.anyInteger(2) != expected {
          find("use_count", "entity \(id) is used by \(expected) sections, not by \(row.anyInteger(2))")
        }
        if row.isNull(3) != row.isNull(4) || (!row.isNull(3) && row.anyInteger(3) != row.anyInteger(4)) {
          find("content_size", "entity \(id) has other content than its size says")
        }
      }
      for row in uses.keys.sorted() {
        find("dangling_reference", "a section refers to entity row \(row), which is not there")
      }
      let orphans = try connection.number(
        "SELECT count(*) FROM entity_content WHERE entity NOT IN (SELECT id FROM entity)")
      if orphans > 0 { find("orphaned_content", "\(orphans) bodies without an entity") }
      return findings
    }
  }
}
