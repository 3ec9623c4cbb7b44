import SatchelJSON
import SatchelStorage

extension Catalogue {
  /// Remembers where the person is, across restarts; nil forgets it.
  public func setActiveLocation(_ location: Location?) throws {
    try database.write { transaction in
      let connection = transaction.connection
      guard let location else {
        try connection.run("DELETE FROM setting WHERE key = 'active_location'")
        return
      }
      try connection.run(
        "INSERT INTO setting(key, value) VALUES('active_location', ?1) ON CONFLICT DO UPDATE SET value = ?1",
        .text(try location.json.text))
    }
  }

  /// The location set last; nil when there is none.
  public func activeLocation() throws -> Location? {
    try database.read { try Self.activeLocation($0) }
  }

  static func activeLocation(_ connection: Connection) throws -> Location? {
    try connection.first("SELECT value FROM setting WHERE key = 'active_location'") {
      try? Location(json: JSONValue(parsing: $0.text(0)))
    } ?? nil
  }
}
