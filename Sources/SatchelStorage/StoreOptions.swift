import SatchelCore

/// Options for opening a store.
public struct StoreOptions: Sendable {
  /// The durability of commits.
  public enum Durability: Sendable {
    /// Syncs every commit: an acknowledged commit survives a power loss.
    case full
    /// Commits survive the end of the process; a power loss may lose those made after the last checkpoint.
    case relaxed
  }

  /// Opens the store without writing; the file must exist.
  public var isReadOnly = false
  /// Renames a damaged or foreign file, which is never deleted, and creates a new store.
  public var quarantine = false
  /// Whether each commit survives a power loss.
  public var durability = Durability.full
  /// The time that a call waits for another writer, in milliseconds.
  public var busyTimeout: Int32 = 5000
  /// The time limit of queries, searches, statistics and checks, in milliseconds; 0 for none. One that takes longer
  /// throws `.timedOut`. `Interrupt` sets another limit for some of them.
  public var queryTimeout: Int32 = 0
  /// The source of the time.
  public var clock = Clock.system
  /// The name of the SQLite VFS that reads and writes the files; nil for the default.
  package var vfsName: String?
  /// The system calls for files that SQLite does not write.
  package var fileCalls = FileCalls.system

  public init() {}
}
