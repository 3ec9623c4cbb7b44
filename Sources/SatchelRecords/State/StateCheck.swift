import SatchelJSON
import SatchelStorage

extension StateStore {
  /// Findings in the tables of state. Reads every row.
  package static func check(_ database: Database) throws -> [StoreFinding] {
    guard try database.has(StateSchema.subject) else { return [] }
    return try database.read { connection in
      var check = StateCheck(connection: connection)
      try check.run()
      return check.findings
    }
  }
}

/// Examines the tables of state: values are of their kind, and what identifies them fits.
private struct StateCheck {
  let connection: Connection
  private(set) var findings: [StoreFinding] = []

  init(connection: Connection) { self.connection = connection }

  mutating func run() throws {
    var found: [(String, String)] = []
    try connection.each("SELECT space, key, is_sealed, value FROM state_value") { row in
      let (space, key) = (row.text(0), row.text(1))
      guard let fault = Self.fault(of: row.bytes(3), isSealed: row.flag(2), key, in: space) else { return }
      found.append(("state_value", "\(space), \(key): \(fault)"))
    }
    var last: (list: String, time: Int64)?
    try connection.each("SELECT list, number, time, identity, value FROM state_item ORDER BY list, number") {
      row in
      let (list, time) = (row.text(0), row.anyInteger(2))
      if let last, last.list == list, last.time > time {
        found.append(
          ("state_item", "list \(list), item \(row.anyInteger(1)) is older than the one before it"))
      }
      last = (list, time)
      guard let value = try? JSONValue(parsing: row.bytes(4)) else {
        return found.append(("state_item", "list \(list), item \(row.anyInteger(1)) is no JSON"))
      }
      if try ValueIdentity(value).bytes != Array(row.bytes(3)) {
        found.append(("state_item", "list \(list), item \(row.anyInteger(1)) is indexed as another value"))
      }
    }
    findings = found.map { StoreFinding(code: $0.0, message: $0.1) }
  }

  /// Why a value cannot be what its space holds; nil when it can.
  private static func fault(
    of bytes: UnsafeRawBufferPointer, isSealed: Bool, _ key: String, in space: String
  ) -> String? {
    if space == StateSpace.values {
      if isSealed { return nil }
      return (try? JSONScanner.check(bytes)) == nil ? "is no JSON" : nil
    }
    if isSealed { return "is sealed, which only values are" }
    if space.hasPrefix(StateSpace.scores) {
      let score = Double(String(decoding: bytes, as: UTF8.self))
      return score?.isFinite == true ? nil : "is no score"
    }
    guard space.hasPrefix(StateSpace.sets) else { return "is in no space that is known" }
    guard let value = try? JSONValue(parsing: bytes), let identity = try? ValueIdentity(value) else {
      return "is no JSON"
    }
    return identity.hexadecimal == key ? nil : "is stored as another member"
  }
}
