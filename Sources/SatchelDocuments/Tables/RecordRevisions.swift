import SatchelStorage

/// The revisions after which the new records of each collection begin; see `CollectionRow.revised`.
package enum RecordRevisions {
  /// Makes new records begin after revisions that the store has given and does not know any more: it was replaced with
  /// a backup of an earlier state, or records were lost.
  package static func advance(in database: Database) throws {
    guard try database.has(RecordSchema.subject) else { return }
    try database.write { try advance($0.connection) }
  }

  /// By a random number, because one backup may be restored several times. It is above the number of revisions that
  /// an app gives, and low enough for a million restores.
  static func advance(_ connection: Connection) throws {
    let number = Int64.random(in: 1 << 24...1 << 28)
    try connection.run(
      """
      UPDATE record_collection SET revised = min(?2, ?1 + max(revised, (SELECT coalesce(max(revision), 0) FROM record
      WHERE record.id > record_collection.id << 40 AND record.id < (record_collection.id + 1) << 40)))
      """, .integer(number), .integer(RecordRow.maxStartingRevision))
    try connection.run(
      "UPDATE record_dropped SET revised = min(?2, ?1 + revised)", .integer(number),
      .integer(RecordRow.maxStartingRevision))
  }
}
