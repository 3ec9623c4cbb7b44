import Foundation
import SatchelCore
import SatchelTesting

@testable import SatchelStorage

/// What a loss of power may leave of a directory: of each name the changes up to some point, of different names
/// independently, unless their directory was synced; of a file that was not synced anything; of the commits those up to
/// some point after the last synced one.
// Unchecked: the scheduler and the fibers take turns.
final class AssetFolderDisk: @unchecked Sendable {
  private struct Change {
    var name: String
    var old: ino_t?
    var new: ino_t?
  }

  let root: String
  private let vault: String
  private let mutant: AssetFolderMutant?
  /// Files with changes that were not synced.
  private var unsynced: Set<ino_t> = []
  /// Changes of names that were not synced, in their order; the names are those below the root.
  private var pending: [Change] = []
  private var directories: Set<ino_t> = []
  /// The WAL when it was last synced.
  private var synced: WAL?

  init(root: String, vault: String, _ mutant: AssetFolderMutant?) throws {
    (self.root, self.vault, self.mutant) = (root, vault, mutant)
    for path in [root, vault] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
  }

  // MARK: What processes do

  static func status(_ path: String) -> stat? {
    var status = stat()
    return lstat(path, &status) == 0 ? status : nil
  }

  static func path(of file: Int32) -> String {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/fd/\(file)", &buffer, buffer.count - 1)
    return count > 0 ? String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : ""
  }

  private func name(_ path: String) -> String? {
    path.hasPrefix(root + "/") ? String(path.dropFirst(root.count + 1)) : nil
  }

  /// Keeps a file, so that a later state can have it.
  private func keep(_ path: String) -> ino_t? {
    guard let status = Self.status(path) else { return nil }
    if status.st_mode & S_IFMT == S_IFDIR {
      directories.insert(status.st_ino)
    } else if name(path)?.contains("/") ?? false {
      link(path, "\(vault)/\(status.st_ino)")
    } else {
      // A store with two names is refused.
      try? Data(contentsOf: URL(filePath: path)).write(to: URL(filePath: "\(vault)/\(status.st_ino)"))
    }
    return status.st_ino
  }

  func noteWrite(_ file: Int32) {
    var status = stat()
    if fstat(file, &status) == 0 { unsynced.insert(status.st_ino) }
  }

  func noteSync(_ file: Int32) {
    var status = stat()
    guard fstat(file, &status) == 0 else { return }
    if status.st_mode & S_IFMT != S_IFDIR {
      if mutant != .nofsync { unsynced.remove(status.st_ino) }
    } else if mutant != .nodirsync {
      let directory = Self.path(of: file)
      pending.removeAll {
        (root + "/" + $0.name).split(separator: "/").dropLast() == directory.split(separator: "/")
      }
    }
  }

  /// Runs a call that gives a name to a file, or takes it from it.
  func change(_ path: String, takingFrom source: String? = nil, _ body: () -> Int32) -> Int32 {
    let (old, moved) = (keep(path), source.flatMap(keep))
    let result = body()
    let code = errno
    guard result == 0 else {
      errno = code
      return result
    }
    if let name = name(path) { pending.append(Change(name: name, old: old, new: keep(path))) }
    if let source, let name = name(source), Self.status(source) == nil {
      pending.append(Change(name: name, old: moved, new: nil))
    }
    return result
  }

  func noteSync(ofDatabase path: String) {
    guard path == root + "/a.satchel-wal", mutant != .nosync else { return }
    synced = WAL(path)
  }

  // MARK: Loss of power

  /// Makes what is left in another directory.
  ///
  /// - Parameter isKill: whether all is left: only the processes have ended
  func lose(_ random: inout SeededRandom, to other: String, isKill: Bool) throws -> AssetFolderDisk {
    let next = try AssetFolderDisk(root: other, vault: vault, mutant)
    var names = Self.tree(root)
    var order: [String] = []
    for change in pending where !isKill && !order.contains(change.name) { order.append(change.name) }
    for name in order {
      let changes = pending.filter { $0.name == name }
      let count = random.below(changes.count + 1)
      names[name] = count == 0 ? changes[0].old : changes[count - 1].new
    }
    for name in names.keys.sorted() {
      // What is in a lost directory is lost.
      guard let inode = names[name], Self.parents(of: name).allSatisfy({ names[$0] != nil }) else { continue }
      try copy(name, inode, to: other, &random, isKill)
    }
    if isKill { (next.unsynced, next.pending, next.synced) = (unsynced, pending, synced) }
    next.directories = directories
    if !isKill { next.synced = try cutWAL(in: other, &random) }
    return next
  }

  private func copy(
    _ name: String, _ inode: ino_t, to other: String, _ random: inout SeededRandom, _ isKill: Bool
  ) throws {
    let target = "\(other)/\(name)"
    let mode = Self.status("\(root)/\(name)")?.st_mode ?? 0
    if directories.contains(inode) || mode & S_IFMT == S_IFDIR {
      mkdir(target, 0o700)
      return
    }
    let present = "\(root)/\(name)"
    let source = Self.status(present)?.st_ino == inode ? present : "\(vault)/\(inode)"
    let isLost = !isKill && unsynced.contains(inode) && random.chance(30)
    if isLost {
      try Data([UInt8](repeating: 7, count: 10)).write(to: URL(filePath: target))
    } else if name.contains("/"), !name.hasSuffix("/lock") {
      link(source, target)
    } else {
      // SQLite writes to it.
      try Data(contentsOf: URL(filePath: source)).write(to: URL(filePath: target))
    }
  }

  private static func parents(of name: String) -> [String] {
    name.indices.filter { name[$0] == "/" }.map { String(name[..<$0]) }
  }

  /// All names, without the shared memory of SQLite, which ends with the processes.
  private static func tree(_ root: String) -> [String: ino_t] {
    var names: [String: ino_t] = [:]
    for name in (try? FileManager.default.subpathsOfDirectory(atPath: root)) ?? []
    where !name.hasSuffix("-shm") {
      names[name] = status(root + "/" + name)?.st_ino
    }
    return names
  }

  /// - Returns: what is left, all of which is on the disk
  private func cutWAL(in directory: String, _ random: inout SeededRandom) throws -> WAL? {
    let path = directory + "/a.satchel-wal"
    guard let wal = WAL(path) else { return nil }
    let first = synced?.salt == wal.salt ? min(synced?.ends.count ?? 0, wal.ends.count) : 0
    let count = first + random.below(wal.ends.count - first + 1)
    truncate(path, off_t(count == 0 ? WAL.header : wal.ends[count - 1]))
    return WAL(path)
  }

  /// The commits of a WAL: https://sqlite.org/fileformat2.html#walformat
  private struct WAL {
    static let header = 32
    var salt: [UInt8]
    /// Where each commit ends.
    var ends: [Int] = []

    init?(_ path: String) {
      guard let data = FileManager.default.contents(atPath: path), data.count >= Self.header else {
        return nil
      }
      let bytes = [UInt8](data)
      func number(_ offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
      let frame = number(8) + 24
      salt = Array(bytes[16..<24])
      var offset = Self.header
      while offset + frame <= bytes.count, Array(bytes[offset + 8..<offset + 16]) == salt {
        if number(offset + 4) > 0 { ends.append(offset + frame) }
        offset += frame
      }
    }
  }
}
