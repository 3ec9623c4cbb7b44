import SatchelCore

/// The files below a root directory. Symbolic links are never followed, so nothing outside can be
/// reached.
final class DirectoryTree: Sendable {
  /// The name of the directory with the store's internal files; no key may begin with it.
  static let reserved = ".satchel"

  /// An open directory that is shared.
  final class Root: Sendable {
    let descriptor: Descriptor

    init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
  }

  let path: String
  let calls: FileCalls
  private let opened = Locked<Root?>(nil)
  /// The group's rights on the root, if the group may write there, and whether they are inherited.
  private let groupMode = Locked<mode_t>(0)

  /// - Parameter path: a directory; the first write creates it, if its parent exists
  init(_ path: String, _ calls: FileCalls) throws(ObjectStoreError) {
    self.path = path
    self.calls = calls
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw ObjectStoreError(
        .failed(.invalid), "the path of an object store's directory is empty or contains a NUL")
    }
    guard try root() == nil else { return }
    // A misspelt path is noticed here, and not by the first write.
    let names = path.split(separator: "/").dropLast()
    let parent = (path.hasPrefix("/") ? "/" : "") + names.joined(separator: "/")
    var status = stat()
    guard stat(parent.isEmpty ? "." : parent, &status) == 0 else { throw Self.unusable(errno, parent) }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw Self.unusable(ENOTDIR, parent) }
  }

  /// The root, open.
  ///
  /// - Parameter making: whether to create it; its parent must exist
  /// - Returns: nil when it does not exist
  func root(making: Bool = false) throws(ObjectStoreError) -> Root? {
    if let root = opened.withLock({ $0 }) { return root }
    let isNew = making && mkdir(path, 0o777) == 0
    guard !making || isNew || errno == EEXIST else { throw Self.unusable(errno, path) }
    let number = openDirectory(path)
    guard number >= 0 else {
      if errno == ENOENT, !making { return nil }
      throw Self.unusable(errno, path)
    }
    let root = Root(Descriptor(number))
    if isNew {
      // Its name is synced, because a power loss would otherwise lose all files in it.
      let parent = openat(number, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard parent >= 0 else { throw Self.unusable(errno, path) }
      try Descriptor(parent).syncNames(calls)
    }
    if let status = root.descriptor.status, status.st_mode & S_IWGRP != 0 {
      groupMode.withLock { $0 = status.st_mode & (S_IRWXG | S_ISGID) }
    }
    return opened.withLock { opened in
      let kept = opened ?? root
      opened = kept
      return kept
    }
  }

  /// Forgets the root if its path leads to another directory now, or to none: its disk was unmounted, or another mounted.
  ///
  /// - Returns: whether it was forgotten
  func forgetMovedRoot() -> Bool {
    opened.withLock { opened in
      guard let root = opened else { return false }
      var there = stat()
      if let known = root.descriptor.status, stat(path, &there) == 0, there.st_dev == known.st_dev,
        there.st_ino == known.st_ino
      {
        return false
      }
      opened = nil
      return true
    }
  }

  /// Gives the group the rights on a new file or directory that it has on the root, if it may write there: whatever the
  /// umask, all users of the group write to the store.
  func share(_ file: Int32) {
    let group = groupMode.withLock { $0 }
    var status = stat()
    guard group != 0, fstat(file, &status) == 0, status.st_uid == geteuid() else { return }
    let isDirectory = status.st_mode & S_IFMT == S_IFDIR
    let mode = status.st_mode & 0o7777 | (isDirectory ? group : group & (S_IRGRP | S_IWGRP))
    if mode != status.st_mode & 0o7777 { _ = fchmod(file, mode) }
  }

  // `.notFound` is reserved for missing objects; a missing root directory is a permanent failure.
  private static func unusable(_ code: Int32, _ path: String) -> ObjectStoreError {
    let error = ObjectStoreError.system(code, path)
    return switch error.reason {
    case .notFound: ObjectStoreError(.failed(.notFound), error.message)
    case .invalidKey: ObjectStoreError(.failed(.invalid), error.message)
    default: error
    }
  }

  /// Returns the path of an object's file, as components.
  func path(to key: ObjectKey) throws(ObjectStoreError) -> [String] {
    let path = key.components
    guard path.first != Self.reserved else {
      throw ObjectStoreError(.invalidKey, "\(key): \"\(Self.reserved)\" is reserved for the store")
    }
    guard path.allSatisfy({ $0.utf8.count <= Int(NAME_MAX) }) else {
      throw ObjectStoreError(.invalidKey, "\(key): a component is longer than \(NAME_MAX) bytes")
    }
    return path
  }

  /// Opens a directory below the root, and creates missing directories if `making` is true.
  ///
  /// - Returns: nil when it does not exist, or a component is a file
  func directory(_ path: ArraySlice<String>, making: Bool = false) throws(ObjectStoreError) -> Descriptor? {
    do throws(ObjectStoreError) {
      return try open(path, making: making)
    } catch {
      guard path.first == Self.reserved else { throw error }
      // Without its own files the store can write no object at all.
      let reason: ObjectStoreError.Reason = error.reason == .invalidKey ? .failed(.damaged) : error.reason
      throw ObjectStoreError(
        reason, "\(Self.reserved), the store's own directory: \(error.message)", faultClass: .remote)
    }
  }

  private func open(_ path: ArraySlice<String>, making: Bool) throws(ObjectStoreError) -> Descriptor? {
    guard let root = try root(making: making),
      var current = try step(root.descriptor.number, ".", making: false)
    else { return nil }
    for name in path {
      guard let next = try step(current.number, name, making: making) else { return nil }
      current = next
    }
    return current
  }

  private func step(_ parent: Int32, _ name: String, making: Bool) throws(ObjectStoreError) -> Descriptor? {
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    var number = openat(parent, name, flags)
    if number < 0, errno == ENOENT, making {
      let isNew = mkdirat(parent, name, 0o777) == 0
      guard isNew || errno == EEXIST else { throw .system(errno, name) }
      // A new directory entry is durable only after an fsync of its parent. The next writer, which finds a
      // directory, does not sync it.
      while calls.sync(parent) != 0, !DiskFile.cannotSyncDirectories(errno) {
        let code = errno
        if code == EINTR { continue }
        unlinkat(parent, name, AT_REMOVEDIR)
        throw .system(code, name)
      }
      number = openat(parent, name, flags)
      if isNew, number >= 0 { share(number) }
    }
    if number >= 0 { return Descriptor(number) }
    let code = errno
    guard code != ENOENT else { return nil }
    guard code == ENOTDIR || code == ELOOP else { throw .system(code, name) }
    var status = stat()
    if fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFLNK {
      throw ObjectStoreError(.denied, "\(name): a symbolic link, which is not followed")
    }
    if making {
      throw ObjectStoreError(
        .invalidKey, "\(name): an object with this name exists, so it cannot be a directory")
    }
    return nil
  }

  /// Opens an object for reading.
  ///
  /// - Returns: nil when it does not exist
  func object(_ key: ObjectKey, path: [String]) throws(ObjectStoreError) -> ObjectFile? {
    guard let name = path.last, let parent = try directory(path.dropLast()) else { return nil }
    return try object(key, named: name, in: parent)
  }

  /// Opens an object in an open directory.
  func object(
    _ key: ObjectKey, named name: String, in parent: borrowing Descriptor
  ) throws(ObjectStoreError) -> ObjectFile? {
    // O_NONBLOCK: opening a FIFO must not block.
    let number = openat(parent.number, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard number >= 0 else {
      if errno == ENOENT { return nil }
      let failure = ObjectStoreError.system(errno, key.text)
      // Without permission for this file, or a link.
      throw failure.reason == .denied ? failure.concerning(.object) : failure
    }
    let file = Descriptor(number)
    guard let status = file.status else { throw .system(errno, key.text) }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return ObjectFile(file: file, status: status, key: key)
    case S_IFDIR: return nil
    default: throw ObjectStoreError(.denied, "\(key): not a regular file", faultClass: .object)
    }
  }
}

/// An entry of a directory.
struct DirectoryEntryName {
  var text: String
  /// False for a name that is not valid UTF-8: `text` is repaired and cannot be opened.
  var isReadable: Bool

  /// Returns all entries except "." and "..", unordered.
  static func all(in directory: borrowing Descriptor) throws(ObjectStoreError) -> [DirectoryEntryName] {
    // A second descriptor, because readdir moves the offset of an open directory that other threads may read.
    let copy = openat(directory.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0, let stream = fdopendir(copy) else {
      let code = errno
      if copy >= 0 { close(copy) }
      throw .system(code, "listing a directory")
    }
    defer { closedir(stream) }
    var names: [DirectoryEntryName] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw .system(errno, "listing a directory") }
        return names
      }
      withUnsafePointer(to: &entry.pointee.d_name) { tuple in
        tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) { name in
          let isReadable = String(validatingCString: name) != nil
          let text = String(cString: name)
          if text != ".", text != ".." {
            names.append(DirectoryEntryName(text: text, isReadable: isReadable))
          }
        }
      }
    }
  }
}

/// An open file descriptor, closed when it goes out of scope.
struct Descriptor: ~Copyable, Sendable {
  let number: Int32

  init(_ number: Int32) { self.number = number }

  deinit { close(number) }

  var status: stat? {
    var status = stat()
    return fstat(number, &status) == 0 ? status : nil
  }

  /// Flushes written data to stable storage.
  func sync(_ calls: FileCalls) throws(ObjectStoreError) {
    while calls.sync(number) != 0 {
      if errno != EINTR { throw .system(errno, "making a write durable") }
    }
  }

  /// Flushes the names in a directory to stable storage.
  func syncNames(_ calls: FileCalls) throws(ObjectStoreError) {
    while calls.sync(number) != 0, !DiskFile.cannotSyncDirectories(errno) {
      if errno != EINTR { throw .system(errno, "making a write durable") }
    }
  }
}

extension ObjectStoreError {
  /// Creates an error from an `errno`.
  ///
  /// - Parameter subject: the operation or the file, for the message
  static func system(_ code: Int32, _ subject: String) -> ObjectStoreError {
    let reason: Reason =
      switch code {
      case ENOENT: .notFound
      case EACCES, EPERM, EROFS, ELOOP: .denied
      case ENOSPC, EDQUOT, EFBIG: .failed(.full)
      case ENAMETOOLONG, ENOTDIR, EISDIR, EILSEQ: .invalidKey
      case EMFILE, ENFILE, ENOMEM, EAGAIN, EINTR, ENOLCK: .transient(retryAfter: nil)
      default: .failed(.io)
      }
    return ObjectStoreError(
      reason, "\(subject): \(String(cString: strerror(code)))", faultClass: code == EFBIG ? .object : nil)
  }
}

/// The system's `open`, which a member with that name would shadow.
private func openDirectory(_ path: String) -> Int32 { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }

/// The exclusive write lock of a directory store, held by one thread of one process.
///
/// It is an flock: the kernel releases it when the process ends in any way.
struct DirectoryLock: ~Copyable {
  private let file: Descriptor

  /// - Parameters:
  ///   - reserved: the store's reserved directory
  ///   - timeout: milliseconds
  /// - Throws: `.transient` when the lock is not free within the timeout
  init(
    in reserved: borrowing Descriptor, of tree: DirectoryTree, timeout: Int64, _ cancellation: Cancellation
  )
    throws(ObjectStoreError)
  {
    // The file is opened for each lock: two uses of one open file description would share the flock.
    let number = openat(reserved.number, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o666)
    guard number >= 0 else { throw .system(errno, "opening the store's lock file") }
    let file = Descriptor(number)
    tree.share(number)
    let start = Clock.monotonic.now()
    var pause: UInt32 = 50
    while flock(file.number, LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      guard code == EWOULDBLOCK || code == EINTR else { throw .system(code, "locking the store") }
      try cancellation.check()
      guard Clock.monotonic.now() - start < timeout else { throw Self.isHeld(for: timeout) }
      // A blocking flock could not be cancelled. Random pauses prevent starvation.
      usleep(UInt32.random(in: pause / 2...pause))
      pause = min(pause * 2, 4000)
    }
    self.file = file
  }

  static func isHeld(for timeout: Int64) -> ObjectStoreError {
    ObjectStoreError(
      .transient(retryAfter: nil), "the store has been locked by other writers for \(timeout) ms")
  }

  // Closing is not enough: a child process that the host has forked in the meantime has the file open too.
  deinit { flock(file.number, LOCK_UN) }
}
