import CSQLite
import Foundation
import Satchel
import SatchelCore
import SatchelRemoteTesting
import SatchelTesting

@testable import SatchelAssets
@testable import SatchelStorage

/// A schedule of two processes that put, drop, delete, sweep, back up and restore the assets of one store, by real calls on
/// real files, while processes are killed and the power is lost between any two calls of the disk.
// Unchecked: the processes' fibers run only while the scheduler waits.
final class AssetFolderSimulation: @unchecked Sendable {
  struct Rollback: Error {}

  /// The time, which stores ask for until they are closed.
  // Unchecked: the scheduler and the fibers take turns.
  final class Time: @unchecked Sendable { var now: Int64 = 1_790_000_000_000 }

  static let contents = (0..<3).map { AssetFixture.bytes(66_000, $0) }
  static let digests = contents.compactMap { AssetDigest(SHA256.digest($0)) }
  static let owners = ["p", "q", "r"]

  var random: SeededRandom
  let mutant: AssetFolderMutant?
  private(set) var history: [String]?
  private(set) var violation: String?
  let clock = Time()
  private(set) var disk: AssetFolderDisk
  private(set) var processes: [AssetFolderProcess] = []
  private let directory: TemporaryDirectory
  /// Whether each commit is synced.
  let isDurable: Bool
  private let isHard: Bool
  private var count = 0
  private var backups: [String] = []
  /// Files whose bytes are known to be right.
  private var verified: Set<ino_t> = []
  private var spy: Connection?
  /// What a mutant deletes again and again.
  var garbageKept: Set<AssetDigest> = []
  var counts: [String: Int] = [:]

  init(seed: UInt64, _ mutant: AssetFolderMutant?, shelf: AssetFolderShelf, isLogging: Bool) throws {
    random = SeededRandom(seed: seed)
    self.mutant = mutant
    history = isLogging ? [] : nil
    // Files are known by their inodes.
    directory = try TemporaryDirectory(inMemory: ())
    isDurable = random.chance(30)
    isHard = random.chance(70)
    let root = DatabaseFile.realPath(of: directory.path)
    disk = try AssetFolderDisk(root: root + "/0", vault: root + "/vault", mutant)
    try shelf.template.write(to: URL(filePath: path))
    processes = try (0..<2).map { try AssetFolderProcess($0, self, shelf) }
  }

  var path: String { disk.root + "/a.satchel" }

  func note(_ line: @autoclosure () -> String) { history?.append(line()) }

  func fail(_ text: String) {
    if violation == nil { note("VIOLATION: \(text)") }
    violation = violation ?? text
  }

  // MARK: The schedule

  func run() throws {
    for _ in 0..<(60 + random.below(60)) where violation == nil {
      let chance = random.below(100)
      if isHard, chance < 3 {
        try end(isKill: chance == 0)
      } else {
        try step(processes[random.below(2)], chance)
      }
    }
    if violation == nil { try end() }
  }

  private func step(_ process: AssetFolderProcess, _ chance: Int) throws {
    if isHard, chance < 6 {
      guard process.isBusy else { return }
      note("\(process.number): is killed")
      counts["kills", default: 0] += 1
      return process.kill()
    }
    if !process.isBusy {
      let other = processes[1 - process.number]
      // It would wait for the lock of the folder.
      if other.isDeleting { return other.resume() }
      guard try begin(process, besides: other) else { return }
    }
    for _ in 0..<random.pick([1, 1, 2, 4]) where process.isBusy {
      process.resume()
      check("a step of \(process.number)")
    }
  }

  private func begin(_ process: AssetFolderProcess, besides other: AssetFolderProcess) throws -> Bool {
    let call = random.pick(
      [
        "put", "put", "put", "put", "put", "drop", "prune", "prune", "sweep", "verify", "backup", "restore",
        "read",
      ])
    if call == "restore" { return try restore(process, besides: other) }
    if call == "backup", random.chance(50) { return false }
    let store = try process.open()
    let (content, owner) = (random.below(3), random.pick(Self.owners))
    let (isKept, isRolledBack) = (random.chance(40), random.chance(10))
    counts[call, default: 0] += 1
    process.written = call == "put" ? Self.digests[content] : nil
    if call == "prune", random.chance(60) { clock.now += 7_200_000 }
    count += 1
    let backup = "\(disk.root)/b\(count)"
    process.start(call) { [self] in
      switch call {
      case "put": try put(content, owner, isKept, isRolledBack, store)
      case "drop":
        let notes = try store.records("notes")
        try store.batch { _ = try notes.delete(owner) }
      case "prune": try prune(store, process)
      case "sweep": try sweep(store, process)
      case "verify": try verify(store)
      case "backup":
        try store.backup(to: backup)
        backups.append(backup)
      default:
        let asset = Asset(Self.digests[content])
        if try store.assets.bytes(of: asset) != Self.contents[content] {
          fail("A4: \(asset) has other bytes")
        }
      }
    }
    return true
  }

  private func put(_ content: Int, _ owner: String, _ isKept: Bool, _ isRolledBack: Bool, _ store: Store)
    throws
  {
    let notes = try store.records("notes")
    // In a batch, which is not spooled while the other process writes.
    func refer(to asset: Asset) throws {
      var document: JSONObject = ["new": asset.json]
      if isKept, let old = try notes.get(owner)?.document["new"] { document["old"] = old }
      try notes.put(owner, .object(document))
    }
    if !isRolledBack {
      let asset = try store.assets.put(Self.contents[content])
      return try store.batch { try refer(to: asset) }
    }
    try store.batch {
      try refer(to: store.assets.put(Self.contents[content]))
      throw Rollback()
    }
  }

  private func verify(_ store: Store) throws {
    let report = try store.assets.verify()
    if !report.lost.isEmpty || !report.damaged.isEmpty { fail("A4: verify finds \(report)") }
  }

  /// Alone on the store; a kill may end it.
  private func restore(_ process: AssetFolderProcess, besides other: AssetFolderProcess) throws -> Bool {
    guard !other.isBusy, let backup = backups.isEmpty ? nil : random.pick(backups), random.chance(50) else {
      return false
    }
    for process in processes { process.close() }
    spy = nil
    counts["restore", default: 0] += 1
    process.start("restore") { [self] in _ = try Store.restore(backup, to: path, options: process.options()) }
    while process.isBusy {
      if isHard, random.chance(10) {
        note("\(process.number): is killed")
        process.kill()
        break
      }
      if isHard, random.chance(5) {
        try end(isKill: false)
        return false
      }
      process.resume()
    }
    check("a restoration")
    return false
  }

  /// All processes end, and with the power a part of what they did.
  private func end(isKill: Bool) throws {
    counts[isKill ? "ends" : "losses of power", default: 0] += 1
    note(isKill ? "all processes end" : "the power is lost")
    spy = nil
    count += 1
    let next = try disk.lose(
      &random, to: "\(disk.root.split(separator: "/").dropLast().map { "/\($0)" }.joined())/\(count)",
      isKill: isKill)
    for process in processes { process.kill() }
    let old = disk.root
    disk = next
    try? FileManager.default.removeItem(atPath: old)
    backups = backups.compactMap { backup in
      let moved = disk.root + "/" + (backup.split(separator: "/").last ?? "")
      return AssetFolderDisk.status(moved) == nil ? nil : moved
    }
    check(isKill ? "the end of all processes" : "a loss of power")
    try checkBackups()
  }

  // MARK: Checks

  /// A4: the file of each row is there, and has its bytes.
  func check(_ step: String) {
    guard violation == nil, AssetFolderDisk.status(path) != nil else { return }
    do {
      let connection = try spy ?? Connection(path: path, flags: SQLITE_OPEN_READWRITE, busyTimeout: 0)
      spy = connection
      try check(connection, path, "A4: after \(step)")
    } catch { fail("A4: after \(step): \(error)") }
  }

  private func check(_ connection: Connection, _ store: String, _ place: String) throws {
    var files: [AssetDigest] = []
    try connection.each("SELECT sha256 FROM asset WHERE place = 2") {
      if let digest = AssetDigest(Array($0.bytes(0))) { files.append(digest) }
    }
    for digest in files {
      let file = "\(store).assets/\("\(digest)".prefix(2))/\(digest)"
      guard let inode = AssetFolderDisk.status(file)?.st_ino else {
        return fail("\(place): the row of \("\(digest)".prefix(8)) names a file that is not there")
      }
      if verified.contains(inode) { continue }
      let bytes = FileManager.default.contents(atPath: file).map { Array($0) } ?? []
      guard SHA256.digest(bytes) == digest.bytes else {
        return fail("\(place): the file of \("\(digest)".prefix(8)) has other bytes")
      }
      verified.insert(inode)
    }
  }

  /// A4b: a backup has its files.
  private func checkBackups() throws {
    for backup in backups {
      try check(
        Connection.reading(backup: backup), backup, "A4b: backup \(backup.split(separator: "/").last ?? "")")
    }
  }

  /// A5: after a sweep, the files are those of the rows.
  private func end() throws {
    for process in processes {
      if random.chance(50) { process.kill() } else { while process.isBusy { process.resume() } }
    }
    if isHard, random.chance(50) { try end(isKill: false) }
    if violation != nil { return }
    try checkBackups()
    for process in processes { process.close() }
    spy = nil
    let store = try processes[0].open()
    for _ in 0..<2 { try store.assets.sweep() }
    let findings = mutant == nil ? try store.check() : []
    if !findings.isEmpty { return fail("\(findings.map(\.message))") }
    check("the end")
    let rows =
      try store.assets.read { try $0.connection.number("SELECT count(*) FROM asset WHERE place = 2") } ?? 0
    let names = try FileManager.default.subpathsOfDirectory(atPath: path + ".assets").filter {
      $0.utf8.count > 32
    }
    if names.count != rows { fail("A5: \(names.count) files for \(rows) rows: \(names)") }
    try recover()
  }

  /// A store that is recovered has all files.
  private func recover() throws {
    for process in processes { process.close() }
    guard violation == nil, random.chance(10) else { return }
    let target = disk.root + "/recovered"
    _ = try Store.recover(path, into: target)
    let store = try Store(path: target)
    try store.assets.read { try check($0.connection, target, "A4: recovered") }
    try store.close()
    counts["recover", default: 0] += 1
  }

  func abandon() {
    for process in processes { process.kill() }
    spy = nil
  }
}
