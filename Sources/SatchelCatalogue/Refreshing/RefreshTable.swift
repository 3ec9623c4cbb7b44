import SatchelCore
import SatchelStorage

/// The table of requests to sources; created with the first request.
package enum RefreshSchema {
  package static let subject = SubjectSchema(
    name: "refresh", migrations: [Migration(version: 1, sql: version1)],
    rules: StoredRules(
      bounds: [
        "refresh.asked_at": StoredRange.time, "refresh.fresh_for": StoredRange.time,
        "refresh.attempts": StoredRange.count, "refresh.wait": StoredRange.time,
        "refresh.demanded": StoredRange.flag,
      ], times: ["refresh.asked_at": .stamp]))

  private static let version1 = """
    -- The last request to a source for a location, for one section or ('') for all of it, where it says when the next one
    -- is due. `location` has the identities of the location's places. Times are durations from `asked_at`, in
    -- milliseconds, so that a clock that goes back delays nothing: `fresh_for` as the source says, NULL when it does not;
    -- `wait` after a failure, which the source demanded where `demanded` is 1. `owner` is the owner of the lease while the
    -- request is sent; `attempts` counts the failures since the last answer.
    CREATE TABLE refresh(
      location TEXT NOT NULL,
      section TEXT NOT NULL,
      asked_at INTEGER NOT NULL,
      fresh_for INTEGER,
      attempts INTEGER NOT NULL,
      wait INTEGER,
      demanded INTEGER NOT NULL,
      error TEXT,
      owner TEXT,
      PRIMARY KEY(location, section)
    ) WITHOUT ROWID, STRICT;
    """
}

/// A row of `refresh`.
struct RefreshRow: Equatable {
  var askedAt: Int64 = 0
  var freshFor: Int64?
  var attempts = 0
  var wait: Int64?
  var isDemanded = false
  var error: String?
  var owner: String?
}

/// Reads and writes the table `refresh`.
struct RefreshTable {
  /// Rows that are older say nothing that is still of use.
  static let lifetime: Int64 = 30 * 24 * 60 * 60 * 1000

  let connection: Connection

  init(connection: Connection) { self.connection = connection }

  /// Nil in a store that has asked no source.
  init?(existingIn connection: Connection) throws {
    guard try connection.has(table: "refresh") else { return nil }
    self.connection = connection
  }

  /// Identifies a location by its own places, whether or not something is stored for it.
  static func key(_ location: Location) -> String {
    // The most specific named place has the components of those above it.
    let named = location.keys.first { $0.level != .coordinate }
    return [location.key(.coordinate), named].compactMap { $0?.identity }.joined(separator: "\u{1E}")
  }

  func row(_ location: String, _ section: String?) throws -> RefreshRow? {
    try connection.first(
      """
      SELECT asked_at, fresh_for, attempts, wait, demanded, error, owner FROM refresh
      WHERE location = ? AND section = ?
      """, .text(location), .text(section ?? "")
    ) { row in
      RefreshRow(
        askedAt: try row.integer(0, in: StoredRange.time),
        freshFor: try row.integerIfAny(1, in: StoredRange.time),
        attempts: Int(try row.integer(2)), wait: try row.integerIfAny(3, in: StoredRange.time),
        isDemanded: row.flag(4), error: row.textIfAny(5), owner: row.textIfAny(6))
    }
  }

  /// Returns the requests that failed last, by location and section.
  func failed() throws -> [FailedRequest] {
    var requests: [FailedRequest] = []
    try connection.each(
      """
      SELECT location, section, asked_at, wait, error FROM refresh WHERE attempts > 0 ORDER BY location, section
      """
    ) { row in
      let (askedAt, section) = (try row.integer(2, in: StoredRange.time), row.text(1))
      requests.append(
        FailedRequest(
          place: Self.text(ofKey: row.text(0)), section: section.isEmpty ? nil : section,
          message: row.textIfAny(4) ?? "",
          retryAt: try row.integerIfAny(3, in: StoredRange.time).map { askedAt + $0 }))
    }
    return requests
  }

  /// Converts the identities of places, which begin with the names of their levels, to the texts of their keys.
  private static func text(ofKey key: String) -> String {
    key.split(separator: "\u{1E}").map {
      $0.split(separator: "\u{1F}", omittingEmptySubsequences: false).dropFirst().joined(separator: "_")
    }.joined(separator: ", ")
  }

  func set(_ location: String, _ section: String?, to row: RefreshRow) throws {
    try connection.run(
      """
      INSERT OR REPLACE INTO refresh(location, section, asked_at, fresh_for, attempts, wait, demanded, error, owner)
      VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .text(location), .text(section ?? ""), .integer(row.askedAt), Binding(row.freshFor),
      .integer(Int64(row.attempts)), Binding(row.wait), .integer(row.isDemanded ? 1 : 0), Binding(row.error),
      Binding(row.owner))
  }

  func remove(_ location: String, _ section: String?) throws {
    try connection.run(
      "DELETE FROM refresh WHERE location = ? AND section = ?", .text(location), .text(section ?? ""))
  }

  /// Removes what is known of requests for content that is deleted. Requests that are being sent stay: their answers are
  /// stored.
  ///
  /// - Parameter sections: with these, the request for all of the location is forgotten; nil for all requests
  func forget(_ location: String, _ sections: [String]?) throws {
    guard let sections else {
      return try connection.run("DELETE FROM refresh WHERE location = ? AND owner IS NULL", .text(location))
    }
    for section in sections + [""] {
      try connection.run(
        "DELETE FROM refresh WHERE location = ? AND section = ? AND owner IS NULL", .text(location),
        .text(section))
    }
  }

  func removeOld(now: Int64) throws {
    try connection.run("DELETE FROM refresh WHERE asked_at < ?", .integer(now - Self.lifetime))
  }
}
