/// How a store is opened.
public struct StoreOptions: Sendable {
  /// What a crash of the machine may cost.
  public enum Durability: Sendable {
    /// Every commit is synced: what was acknowledged survives a power cut.
    case full
    /// Survives the end of the process; a power cut may cost what came after the last checkpoint.
    case relaxed
  }

  /// Opens without writing; the file must exist.
  public var isReadOnly = false
  /// A damaged or foreign file is renamed, never deleted, and a new store begun.
  public var setsAside = false
  public var durability = Durability.full
  /// How long a call waits for another writer, in milliseconds.
  public var busyTimeout: Int32 = 5000
  public var clock = Clock.system
  /// SQLite's way to the disk (VFS), for tests that let it fail; nil for the default.
  package var fileSystem: String?
  /// The system's calls for files that SQLite does not write, for tests that let them fail.
  package var fileCalls = FileCalls.system

  public init() {}
}
