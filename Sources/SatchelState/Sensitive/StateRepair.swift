import SatchelCore
import SatchelStorage

extension StateStore {
  /// Repairs the tables of state after rows of any of them were lost: lists, sets and scores with sealed rows
  /// are marked as sensitive.
  package static func repair(_ database: Database) throws {
    guard try database.has(StateSchema.subject) else { return }
    try database.write { transaction in
      let connection = transaction.connection
      // Of the name of a key, which a sealed value begins with.
      try connection.run(
        """
        INSERT OR REPLACE INTO state_sensitive(kind, name, sealed_by)
        SELECT 'list', list, substr(value, 2, 8) FROM state_item WHERE is_sealed = 1 AND length(value) > 9 GROUP BY list
        """)
      try connection.run(
        """
        INSERT OR REPLACE INTO state_sensitive(kind, name, sealed_by)
        SELECT 'set', substr(space, 5), substr(value, 2, 8) FROM state_value
        WHERE is_sealed = 1 AND space LIKE 'set/_%' AND length(value) > 9 GROUP BY space
        """)
      try connection.run(
        """
        INSERT OR REPLACE INTO state_sensitive(kind, name, sealed_by)
        SELECT 'scores', substr(space, 8), substr(value, 2, 8) FROM state_value
        WHERE is_sealed = 1 AND space LIKE 'scores/_%' AND length(value) > 9 GROUP BY space
        """)
    }
  }
}
