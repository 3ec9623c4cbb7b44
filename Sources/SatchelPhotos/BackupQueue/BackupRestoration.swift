import SatchelCore
import SatchelRemote
import SatchelStorage
import SatchelSync

/// A running restoration.
final class BackupRestoration: Sendable {
  private struct State {
    var report = PhotoRestoreAllReport()
    /// The error that ended the work.
    var failure: (any Error)?
    /// The paths that this call has given to files.
    var taken: [String: MD5] = [:]
    /// Folders with new names in them, relative to the target.
    var folders: Set<String> = []
  }

  private let catalogue: PhotoCatalogue
  private let session: SyncSession
  private let remote: BackupRemote
  private let options: PhotoRestoreOptions
  private let target: String
  private let state = Locked(State())

  init(
    _ catalogue: PhotoCatalogue, session: SyncSession, remote: BackupRemote, options: PhotoRestoreOptions
  ) throws {
    self.catalogue = catalogue
    self.session = session
    self.remote = remote
    self.options = options
    target = try options.target.map { try DirectoryPath.normalized($0) } ?? catalogue.directory
  }

  func run() throws -> PhotoRestoreAllReport {
    try makeDirectory(target)
    let units = try units()
    try session.report { $0.begin(.files, of: units.reduce(0) { $0 + $1.files.count }) }
    inParallel(units, limit: session.parallel) { [self] unit in
      guard !isOver else { return }
      do {
        try restore(unit)
      } catch {
        for file in unit.files { record(error, of: file.path) }
      }
      try? session.report { $0.done += unit.files.count }
    }
    // The files are durable already, but for their names: a loss of power before leaves some of them out.
    for folder in state.withLock({ $0.folders }) {
      try DiskFile.syncDirectory(of: "\(target)/\(folder)name")
    }
    if let failure = state.withLock({ $0.failure }) { throw failure }
    var report = state.withLock { $0.report }
    report.isCancelled = session.cancellation.isCancelled()
    report.add(session.traffic)
    return report
  }

  private var isOver: Bool { state.withLock { $0.failure } != nil || session.cancellation.isCancelled() }

  // MARK: What to restore

  private func units() throws -> [RestoreUnit] {
    let objects = try remote.objects()
    var indexed: [BackupIndex.Row] = []
    try remote.eachIndex(of: session.user) { rows in
      indexed += rows.filter { row in
        state.withLock { state in
          guard BackupIndex.isSafe(row.path) else {
            state.report.fail(row.path, "not a path below the directory")
            return false
          }
          if objects[row.md5] == nil { state.report.absent += 1 }
          return objects[row.md5] != nil
        }
      }
    }
    let named = Set(indexed.lazy.map(\.md5))
    var units = RestoreUnit.units(indexed)
    for md5 in objects.keys.ordered() where !named.contains(md5) {
      let photo = try catalogue.photo(md5)?.photo
      let name = photo?.filename ?? ""
      let isName = BackupIndex.isSafe(name) && !name.utf8.contains(UInt8(ascii: "/"))
      units.append(RestoreUnit(.init(path: isName ? name : "\(md5)", md5: md5, modified: photo?.modified)))
    }
    let here = options.onlyMissing ? try presentFiles() : [:]
    var seen: Set<RestoreUnit.Place> = []
    return units.compactMap { unit in
      var unit = unit
      let count = unit.files.count
      // The films and sidecars of a photo that is here go to it.
      if options.target == nil, let photo = unit.files.first.flatMap({ here[$0.md5] }) { unit.follow(photo) }
      if !options.withFolders {
        for index in unit.files.indices {
          unit.files[index].path = String(RestoreUnit.name(of: unit.files[index].path))
        }
      }
      // In one folder, a file that several had is one.
      unit.files.removeAll { here[$0.md5] != nil || !seen.insert($0.place).inserted }
      state.withLock { $0.report.unchanged += Int64(count - unit.files.count) }
      return unit.files.isEmpty ? nil : unit
    }
  }

  /// The paths of the files on this device, as the last scan says, and as the file's size still does. Of several with
  /// the same bytes the first.
  private func presentFiles() throws -> [MD5: String] {
    let directory = catalogue.directory
    return try catalogue.read(otherwise: [:]) { connection, id in
      var present: [MD5: String] = [:]
      try FileTable(connection: connection, catalogue: id).each { file in
        var status = stat()
        guard !file.isMissing, let md5 = file.md5,
          lstat("\(directory)/\(String(decoding: file.path, as: UTF8.self))", &status) == 0,
          Int64(status.st_size) == file.size
        else { return }
        if present[md5] == nil { present[md5] = String(decoding: file.path, as: UTF8.self) }
      }
      return present
    }
  }

  // MARK: Restoring

  private func restore(_ unit: RestoreUnit) throws {
    for number in 1...1000 {
      let paths = unit.paths(number)
      guard reserve(paths, for: unit) else { continue }
      try makeFolders(of: paths)
      do {
        let isHere = try zip(paths, unit.files).map { path, file in
          try PhotoCatalogue.existing(target + "/" + path, file.md5) != nil
        }
        for (index, path) in paths.enumerated() where !isOver {
          if isHere[index] {
            state.withLock { $0.report.unchanged += 1 }
          } else {
            try restore(unit.files[index], to: path, isRenamed: number > 1)
          }
        }
        return
      } catch let error as SatchelError where error.code == .constraint {
        // Another file has one of these paths.
        state.withLock { state in for path in paths { state.taken[path] = nil } }
      }
    }
    throw SatchelError(.constraint, "too many files have this name")
  }

  /// - Returns: false where this call has given one of the paths to another file
  private func reserve(_ paths: [String], for unit: RestoreUnit) -> Bool {
    state.withLock { state in
      guard paths.allSatisfy({ state.taken[$0] == nil }) else { return false }
      for (path, file) in zip(paths, unit.files) { state.taken[path] = file.md5 }
      return true
    }
  }

  /// - Throws: `SatchelError` `.constraint` where another file has the path; other errors are recorded
  private func restore(_ file: RestoreUnit.File, to path: String, isRenamed: Bool) throws {
    do {
      let size = try catalogue.download(
        file.md5, to: target + "/" + path, modified: file.modified, from: remote, syncsDirectory: false)
      state.withLock { state in
        if size == nil { state.report.unchanged += 1 } else { state.report.restored += 1 }
        if size != nil, isRenamed { state.report.renamed += 1 }
      }
    } catch {
      if (error as? SatchelError)?.code == .constraint { throw error }
      record(error, of: file.path)
    }
  }

  private func makeFolders(of paths: [String]) throws {
    for path in paths {
      var folder = ""
      state.withLock { _ = $0.folders.insert(folder) }
      for name in path.split(separator: "/").dropLast() {
        folder += name
        let full = target + "/" + folder
        try makeDirectory(full)
        var status = stat()
        guard lstat(full, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
          throw SatchelError(.invalid, "\(full): is not a directory")
        }
        folder += "/"
        state.withLock { _ = $0.folders.insert(folder) }
      }
    }
  }

  private func makeDirectory(_ path: String) throws {
    if mkdir(path, 0o777) != 0, errno != EEXIST { throw SatchelError(errno: errno, path) }
  }

  private func record(_ error: any Error, of path: String) {
    if case .cancelled = (error as? ObjectStoreError)?.reason { return }
    state.withLock { state in
      if BackupFault.concernsOne(error) {
        state.report.fail(path, SatchelError(converting: error).message)
      } else {
        state.failure = state.failure ?? SatchelError(converting: error)
      }
    }
  }
}
