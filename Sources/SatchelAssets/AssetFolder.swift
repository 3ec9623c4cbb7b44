import SatchelCore
import SatchelStorage

/// The folder next to a store, `{store}.assets`, with the files of its larger assets: `00` to `ff` with files named by
/// their SHA-256, `incoming` with files that are being written, and `lock`.
///
/// A file is complete and synced before it has its name, and is never written again. Names are renamed and removed only
/// while the caller holds SQLite's write lock, so that neither another process's sweep nor its put comes between. No
/// symbolic link is followed, and nothing from a document, a URL or a remote becomes part of a path.
package struct AssetFolder: Sendable {
  package let path: String
  let calls: FileCalls
  /// Shared by the copies of this value.
  private let durable = DurableNames()

  /// - Parameter store: the store's path, without symbolic links
  package init(of store: String, calls: FileCalls = .system) {
    path = DatabaseFileNames(store).assets
    self.calls = calls
  }

  /// The suffix of its name, after the name of the store.
  package static let suffix = ".assets"
  static let incoming = "incoming"
  static let lock = "lock"

  package var exists: Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// Opens the folder.
  ///
  /// - Throws: `.notFound` when it does not exist; `.invalid` for a symbolic link, and for anything but a folder
  func open() throws -> DiskFile { try DiskFile(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, calls: calls) }

  /// The names that a loss of power does not take. That a directory exists does not say so: another process may have made
  /// it, and may have ended before it was synced.
  private final class DurableNames: Sendable {
    private let names = Locked<Set<String>>([])

    /// Calls `sync` unless it is known that a name is durable, with what else is durable then.
    func add(
      _ name: String, isNew: Bool, also others: () throws -> [String], sync: () throws -> Void
    ) throws {
      if !isNew, names.withLock({ $0.contains(name) }) { return }
      let added = try others()
      try sync()
      names.withLock { names in
        names.insert(name)
        names.formUnion(added)
      }
    }
  }

  /// Opens the folder; creates it if it does not exist, and makes its name durable.
  func make() throws -> DiskFile {
    let isNew = calls.makeDirectory(AT_FDCWD, path) == 0
    guard isNew || errno == EEXIST else { throw SatchelError(errno: errno, path) }
    let folder = try open()
    try durable.add(path, isNew: isNew, also: { [] }) {
      try DiskFile.syncDirectory(of: path, calls: calls)
    }
    // Where the disk cannot be written to later, it is there.
    if isNew { _ = try? openLock() }
    return folder
  }

  func directory(_ name: String, in folder: borrowing DiskFile) throws -> DiskFile {
    try DiskFile(name, in: folder, O_RDONLY | O_DIRECTORY)
  }

  /// Opens a directory of the folder; creates it if it does not exist, and makes its name durable.
  func makeDirectory(_ name: String, in folder: borrowing DiskFile) throws -> DiskFile {
    let isNew = calls.makeDirectory(folder.descriptor, name) == 0
    guard isNew || errno == EEXIST else { throw SatchelError(errno: errno, folder.path + "/" + name) }
    let directory = try directory(name, in: folder)
    // Whatever is in `incoming` may be lost.
    if name == Self.incoming { return directory }
    // One sync does for all that are there.
    try durable.add(name, isNew: isNew, also: { try folder.names() }, sync: { try folder.syncNames() })
    return directory
  }

  // MARK: Writing

  /// A file of `incoming`, which its writer has locked. It is removed unless it gets its name, or is kept for a later
  /// writer.
  final class Incoming {
    let file: DiskFile
    let name: String
    private let directory: DiskFile
    private let calls: FileCalls
    private var isPlaced = false
    /// Whether it stays where it is: a row names it.
    var isKept = false

    fileprivate init(
      _ file: consuming DiskFile, named name: String, in directory: consuming DiskFile, _ calls: FileCalls
    ) {
      self.file = file
      self.name = name
      self.directory = directory
      self.calls = calls
    }

    deinit { if !isPlaced, !isKept { _ = calls.remove(directory.descriptor, name) } }

    /// Gives the file, which is synced, the name of its content; the caller holds the write lock.
    func rename(to name: String, in target: borrowing DiskFile) throws {
      guard calls.renameIn(directory.descriptor, self.name, target.descriptor, name) == 0 else {
        throw SatchelError(errno: errno, target.path + "/" + name)
      }
      isPlaced = true
      try target.syncNames()
    }
  }

  /// Creates an empty file in `incoming`.
  func makeIncoming() throws -> Incoming {
    let folder = try make()
    while true {
      let directory = try makeDirectory(Self.incoming, in: folder)
      let name = HexadecimalName.random(digits: 32)
      let file = try DiskFile(name, in: directory, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
      let isLocked = flock(file.descriptor, LOCK_EX | LOCK_NB) == 0
      let code = errno
      if isLocked, try file.status().st_nlink > 0 {
        return Incoming(file, named: name, in: directory, calls)
      }
      // Otherwise another process has swept here between the two, and removes the file.
      guard isLocked || code == EWOULDBLOCK || code == EINTR else {
        _ = calls.remove(directory.descriptor, name)
        throw SatchelError(errno: code, file.path)
      }
    }
  }

  /// Opens and locks a file of `incoming` that an earlier writer has left.
  ///
  /// - Returns: nil where it does not exist, and for what is not a file with this name alone: another store might write
  ///   to it
  /// - Throws: `.busy` while another writer has it
  func openIncoming(_ name: String) throws -> Incoming? {
    guard HexadecimalName.isName(name, digits: 32), exists,
      let directory = try? directory(Self.incoming, in: open()),
      let file = try? DiskFile(name, in: directory, O_RDWR)
    else { return nil }
    guard flock(file.descriptor, LOCK_EX | LOCK_NB) == 0 else {
      throw SatchelError(.busy, "\(file.path): is being written")
    }
    let status = try file.status()
    guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 else { return nil }
    return Incoming(file, named: name, in: directory, calls)
  }

  /// Gives a file that was written and synced the name of its content. The caller holds the write lock of the store.
  func place(_ incoming: Incoming, as digest: AssetDigest) throws {
    let name = digest.text
    try incoming.rename(to: name, in: makeDirectory(String(name.prefix(2)), in: open()))
  }

  // MARK: Reading

  /// Opens the file of an asset.
  ///
  /// - Throws: `.notFound`; `.invalid` for a symbolic link, and for what is no file
  package func open(_ digest: AssetDigest) throws -> DiskFile {
    let name = digest.text
    let file = try DiskFile(name, in: directory(String(name.prefix(2)), in: open()), O_RDONLY)
    try DiskFile.refuseSpecial(file.path, file.status())
    return file
  }

  /// The path of an asset's file.
  package func path(of digest: AssetDigest) -> String {
    let name = digest.text
    return "\(path)/\(name.prefix(2))/\(name)"
  }

  // MARK: Removing

  /// The lock of the folder: shared by those that use paths of its files, exclusive for deleting them. It ends with the
  /// value.
  package struct Lock: ~Copyable {
    private let file: DiskFile

    /// Whether the locked file is still that of the folder, which may have been removed meanwhile.
    fileprivate var isCurrent: Bool { (try? file.isAtPath) == true }

    fileprivate init?(_ file: consuming DiskFile, _ operation: Int32) throws {
      while flock(file.descriptor, operation | LOCK_NB) != 0 {
        if errno == EINTR { continue }
        guard errno == EWOULDBLOCK else { throw SatchelError(errno: errno, file.path) }
        return nil
      }
      self.file = file
    }

    // Closing is not enough: a child process that the host has forked meanwhile has the file open, too.
    deinit { flock(file.descriptor, LOCK_UN) }
  }

  /// A lock that several may hold.
  package final class HeldLock: Sendable {
    private let lock: Lock

    fileprivate init(_ lock: consuming Lock) { self.lock = lock }
  }

  /// Keeps files from being deleted, as `lockShared`.
  func held() throws -> HeldLock { HeldLock(try lockShared()) }

  /// Creates the folder if it does not exist, and keeps its files from being deleted.
  func makeLocked() throws -> HeldLock {
    for _ in 0..<100 {
      _ = try make()
      do {
        return try held()
      } catch let error as SatchelError where error.code == .notFound {
        // Another process has removed the empty folder between the two.
      }
    }
    throw SatchelError(.busy, "\(path): another process removes this folder again and again")
  }

  /// Keeps files from being deleted.
  ///
  /// - Throws: `.busy` while files are deleted, which takes as long as deleting them; `.notFound` without the folder
  package func lockShared() throws -> Lock {
    // Deleting ends soon; with the limit, a process that is stopped while it deletes does not block others.
    let start = Clock.monotonic.now()
    while true {
      if let lock = try Lock(openLock(), LOCK_SH), lock.isCurrent { return lock }
      guard Clock.monotonic.now() - start < 10_000 else {
        throw SatchelError(.busy, "\(path): another process deletes files here")
      }
      usleep(2_000)
    }
  }

  /// - Returns: nil while a reader, a player or a backup uses the files
  func lockExclusive() throws -> Lock? { try Lock(openLock(), LOCK_EX) }

  private func openLock() throws -> DiskFile {
    // To lock it needs no right to write: a store on a disk that cannot be written to is read.
    let file = try DiskFile(Self.lock, in: open(), O_RDONLY | O_CREAT, mode: 0o600)
    try DiskFile.refuseSpecial(file.path, file.status())
    return file
  }

  /// Deletes the file of an asset, if it exists. The caller holds the write lock of the store and the exclusive lock.
  func remove(_ digest: AssetDigest) throws {
    let name = digest.text
    do {
      let directory = try directory(String(name.prefix(2)), in: open())
      if calls.remove(directory.descriptor, name) == 0 || errno == ENOENT { return }
      let code = errno
      var status = stat()
      // A directory that is not ours stays.
      guard fstatat(directory.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0,
        status.st_mode & S_IFMT == S_IFDIR
      else { throw SatchelError(errno: code, directory.path + "/" + name) }
    } catch let error as SatchelError where error.code == .notFound {
      return
    }
  }

  /// Removes the files in `incoming` that no writer has locked.
  ///
  /// - Parameter isNamed: whether a row names a file, which stays; called while the file is locked
  func removeAbandoned(except isNamed: (String) throws -> Bool) throws {
    guard let directory = try? directory(Self.incoming, in: open()) else { return }
    for name in try directory.names() {
      guard let file = try? DiskFile(name, in: directory, O_RDWR),
        flock(file.descriptor, LOCK_EX | LOCK_NB) == 0, try !isNamed(name)
      else { continue }
      _ = calls.remove(directory.descriptor, name)
    }
  }

  /// Visits the names of all files of assets.
  package func each(_ visit: (AssetDigest) throws -> Void) throws {
    guard exists else { return }
    let folder = try open()
    for name in try folder.names() where HexadecimalName.isName(name, digits: 2) {
      guard let directory = try? directory(name, in: folder) else { continue }
      for file in try directory.names() where file.hasPrefix(name) {
        if let digest = AssetDigest(file) { try visit(digest) }
      }
    }
  }
}
