import SatchelCore
import SatchelStorage

#if os(Linux)
  /// FICLONE of linux/fs.h, a macro that Swift does not import.
  private let cloneRequest: UInt = 0x4004_9409
#endif

extension AssetFolder {
  /// Gives files of this folder to another one, so that both have them: as clones where the file system can do that, as
  /// hard links (no file is ever written again), or as copies. Their names are durable when this returns.
  ///
  /// - Parameters:
  ///   - digests: those that the other folder has already are left as they are
  ///   - shouldContinue: is called before each file
  /// - Returns: the number of files that are not in this folder
  func give(
    _ digests: [AssetDigest], to other: AssetFolder, shouldContinue: () throws -> Void = {}
  ) throws -> Int {
    let copier = Copier(self, other)
    for digest in digests {
      try shouldContinue()
      try copier.copy(digest)
    }
    try copier.finish()
    return copier.missing
  }

  /// Deletes the folder, with the files that have names of assets; others stay, and so does the folder then.
  package func removeAll() throws {
    guard exists else { return }
    let folder = try open()
    for name in try folder.names() {
      guard name == Self.incoming || HexadecimalName.isName(name, digits: 2) else { continue }
      guard let directory = try? directory(name, in: folder) else { continue }
      for file in try directory.names() where HexadecimalName.isName(file, digits: name.count == 2 ? 64 : 32)
      {
        _ = calls.remove(directory.descriptor, file)
      }
      unlinkat(folder.descriptor, name, AT_REMOVEDIR)
    }
    unlinkat(folder.descriptor, Self.lock, 0)
    rmdir(path)
  }

  /// Deletes the folder of a backup that is not there any more, unless another process is about to make the backup.
  package func removeAll(withoutBackup backup: String) throws {
    guard exists, let lock = try lockExclusive() else { return }
    if access(backup, F_OK) != 0 { try removeAll() }
    withExtendedLifetime(lock) {}
  }

  /// Removes the files that are not in a set, of a folder that no store uses: that of a backup.
  func keepOnly(_ kept: Set<AssetDigest>) throws {
    try each { if !kept.contains($0) { try remove($0) } }
  }

  private final class Copier {
    private let (source, target): (AssetFolder, AssetFolder)
    private var canClone = true
    private var canLink = true
    private var changed: Set<String> = []
    private(set) var missing = 0

    init(_ source: AssetFolder, _ target: AssetFolder) { (self.source, self.target) = (source, target) }

    func copy(_ digest: AssetDigest) throws {
      let name = digest.text
      let prefix = String(name.prefix(2))
      let file: DiskFile
      do {
        file = try source.open(digest)
      } catch let error as SatchelError where error.code == .notFound {
        missing += 1
        return
      }
      let folder = try target.make()
      let directory = try target.makeDirectory(prefix, in: folder)
      // Also a name that is there may not be durable: that of a backup which was not finished.
      changed.insert(prefix)
      guard faccessat(directory.descriptor, name, F_OK, 0) != 0 else { return }
      if canClone, try clone(file, to: name, in: directory) { return }
      canClone = false
      let path = directory.path + "/" + name
      if canLink, target.calls.link(file.path, path) == 0 || errno == EEXIST { return }
      canLink = false
      try write(file, to: name, in: directory)
    }

    /// - Returns: false where the file system cannot clone
    private func clone(
      _ file: borrowing DiskFile, to name: String, in directory: borrowing DiskFile
    ) throws -> Bool {
      #if os(Linux)
        let incoming = try target.makeIncoming()
        guard ioctl(incoming.file.descriptor, cloneRequest, file.descriptor) == 0 else { return false }
        try incoming.file.sync()
        try incoming.rename(to: name, in: directory)
        return true
      #else
        return false
      #endif
    }

    private func write(
      _ file: borrowing DiskFile, to name: String, in directory: borrowing DiskFile
    ) throws {
      let incoming = try target.makeIncoming()
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
      defer { buffer.deallocate() }
      var offset: Int64 = 0
      while true {
        let count = try file.read(into: buffer, at: offset)
        if count == 0 { break }
        try incoming.file.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: offset)
        offset += Int64(count)
      }
      try incoming.file.sync()
      try incoming.rename(to: name, in: directory)
    }

    func finish() throws {
      for prefix in changed { try target.directory(prefix, in: target.open()).syncNames() }
    }
  }
}

/// The files of assets beside a backup, a restored and a recovered store.
extension AssetStore {
  /// The files of assets that a backup has copied.
  package struct CopyReport: Sendable {
    /// The files that the copy has.
    package var files = 0
    /// The files that the store should have, and has not.
    package var missing = 0
    /// Keeps the end of another backup to the same path from removing these files, before there is a row that names them.
    package var lock: AssetFolder.HeldLock?

    package init() {}
  }

  /// Gives the files that a snapshot of a store names to the folder of another file.
  ///
  /// - Parameters:
  ///   - connection: in a read transaction
  ///   - path: of the store that the connection reads
  ///   - target: the path of the other file
  package static func copyFiles(
    of connection: Connection, at path: String, to target: String, calls: FileCalls,
    shouldContinue: () throws -> Void = {}
  ) throws -> CopyReport {
    let files = try files(of: connection)
    var report = CopyReport()
    if files.isEmpty { return report }
    let folder = AssetFolder(of: try DiskFile.resolvingLinks(target), calls: calls)
    report.lock = try folder.makeLocked()
    report.missing = try AssetFolder(of: path).give(files, to: folder, shouldContinue: shouldContinue)
    report.files = files.count - report.missing
    return report
  }

  /// The assets of a store that are files.
  private static func files(of connection: Connection) throws -> [AssetDigest] {
    guard try AssetTable.exists(in: connection) else { return [] }
    return try AssetTable(connection).files().map(\.name).ordered()
  }

  /// Returns the files in the folder of a store, whatever its rows say: it may be damaged.
  package static func allFiles(at path: String) throws -> [AssetDigest] {
    var files: [AssetDigest] = []
    try AssetFolder(of: try DiskFile.resolvingLinks(path)).each { files.append($0) }
    return files
  }

  /// Gives files of one store's folder to another's.
  package static func copy(
    _ files: [AssetDigest], at path: String, to target: String, calls: FileCalls = .system
  ) throws {
    if files.isEmpty { return }
    _ = try AssetFolder(of: DiskFile.resolvingLinks(path)).give(
      files, to: AssetFolder(of: try DiskFile.resolvingLinks(target), calls: calls))
  }

  /// Removes the files of a backup that its rows do not name: those of an earlier backup at the same path.
  package static func removeOtherFiles(of backup: String) throws {
    let path = try DiskFile.resolvingLinks(backup)
    let folder = AssetFolder(of: path)
    // Another backup is about to be at the path: it removes what is left.
    guard folder.exists, let lock = try folder.lockExclusive() else { return }
    defer { withExtendedLifetime(lock) {} }
    let kept = Set(try files(of: Connection.reading(backup: path)))
    if kept.isEmpty { return try folder.removeAll() }
    try folder.keepOnly(kept)
  }

  /// Marks assets whose files are not there, in a store that was restored.
  package static func markAbsent(in database: Database) throws {
    guard try database.has(AssetSchema.subject) else { return }
    let store = AssetStore(database)
    try store.write { table, _ in
      for file in try table.files() where !store.has(file.name) {
        try table.connection.run("UPDATE asset SET place = 0 WHERE id = ?", .integer(file.id))
      }
    }
  }
}
