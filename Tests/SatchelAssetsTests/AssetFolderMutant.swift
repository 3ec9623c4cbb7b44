/// A rule of the folder of assets that is switched off, by a faulty part of the tests: the simulation must find it. The
/// parts are the calls of the disk, the model of what a loss of power leaves, and collections of garbage that break a rule.
enum AssetFolderMutant: String, CaseIterable {
  /// Files are not synced.
  case nofsync
  /// Directories are not synced.
  case nodirsync
  /// The row is written before the file has its name.
  case rowfirst
  /// The file gets its name outside of the write transaction.
  case renameoutside
  /// No transaction is synced before files are deleted.
  case nosync
  /// Garbage is deleted that was noted after the synced transaction.
  case nowatermark
  /// Files are deleted whatever their rows say.
  case norecheck
  /// Files are deleted outside of the write lock.
  case collectunlocked
  /// Files are deleted while a backup uses them.
  case nopin
  /// A sweep deletes what an earlier listing has shown.
  case sweepdirect
  /// A restored database is there before its files.
  case restoredbfirst

  /// Those that only many schedules find.
  static let rare: [AssetFolderMutant] = [.nowatermark, .renameoutside, .restoredbfirst]
}
