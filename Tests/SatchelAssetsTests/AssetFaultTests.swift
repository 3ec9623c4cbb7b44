import Foundation
import Satchel
import SatchelCore
import SatchelStorage
import SatchelStorageTesting
import SatchelTesting
import Testing

@testable import SatchelAssets

/// A disk of which the n-th call on a file or a directory fails, and with `forGood` all later ones.
private final class FailingCalls: Sendable {
  private let state = Locked<(left: Int?, code: Int32, isForGood: Bool, hits: Int)>((nil, 0, false, 0))

  func fail(at n: Int, _ code: Int32, forGood: Bool) {
    state.withLock { $0 = (n - 1, code, forGood, $0.hits) }
  }
  func mend() { state.withLock { $0.left = nil } }
  var hits: Int { state.withLock { $0.hits } }

  private func fails() -> Bool {
    state.withLock { state in
      guard let left = state.left else { return false }
      state.left = left - 1
      guard left == 0 || left < 0 && state.isForGood else { return false }
      state.hits += 1
      errno = state.code
      return true
    }
  }

  var calls: FileCalls {
    let system = FileCalls.system
    var calls = system
    calls.write = { [self] file, bytes, offset in fails() ? -1 : system.write(file, bytes, offset) }
    calls.sync = { [self] file in fails() ? -1 : system.sync(file) }
    calls.truncate = { [self] file, size in fails() ? -1 : system.truncate(file, size) }
    calls.rename = { [self] old, new in fails() ? -1 : system.rename(old, new) }
    calls.renameIn = { [self] old, name, new, other in fails() ? -1 : system.renameIn(old, name, new, other) }
    calls.remove = { [self] directory, name in fails() ? -1 : system.remove(directory, name) }
    calls.makeDirectory = { [self] directory, name in fails() ? -1 : system.makeDirectory(directory, name) }
    calls.link = { [self] old, new in fails() ? -1 : system.link(old, new) }
    return calls
  }
}

/// Each call on the folder and each call of SQLite fails in turn, alone and beside another handle: the store stays
/// sound, what was acknowledged is read, and what an unfinished call has left goes.
@Suite("Assets on a disk that fails")
struct AssetFaultTests {
  enum Step: CaseIterable, Sendable { case put, again, prune, verify, backup, restore }

  private static let (large, small) = (AssetFixture.bytes(100_000, 1), AssetFixture.bytes(1000, 2))
  private static let (added, dropped) = (AssetFixture.bytes(90_000, 3), AssetFixture.bytes(80_000, 4))

  private static func asset(_ bytes: [UInt8]) -> Asset { Asset(AssetDigest(SHA256.digest(bytes))) }

  /// A store with a record that refers to two assets, another asset that a prune removes, a file that no row names,
  /// an abandoned file, and an older backup.
  private func filled() throws -> AssetFixture {
    let fixture = try AssetFixture()
    let store = try fixture.open()
    let asset = try store.assets.put(Self.large)
    try store.records("notes").put(
      "a", ["large": asset.json, "small": try store.assets.put(Self.small).json])
    try store.backup(to: fixture.path + ".backup")
    try store.assets.put(Self.dropped)
    try store.close()
    fixture.time.pass(hours: 2)
    let folder = URL(filePath: fixture.path + ".assets")
    let orphan = folder.appending(path: "ab")
    try FileManager.default.createDirectory(at: orphan, withIntermediateDirectories: true)
    try Data([1]).write(to: orphan.appending(path: "ab" + String(repeating: "0", count: 62)))
    try Data([1]).write(to: folder.appending(path: "incoming/" + String(repeating: "1", count: 32)))
    return fixture
  }

  private func act(_ step: Step, _ store: Store, _ fixture: AssetFixture, _ options: StoreOptions) throws {
    switch step {
    case .put: try store.records("notes").put("b", ["large": try store.assets.put(Self.added).json])
    case .again: try store.assets.put(Self.dropped)
    case .prune: try store.assets.prune()
    case .verify: try store.assets.verify()
    case .backup: try store.backup(to: fixture.path + ".backup")
    case .restore:
      try store.close()
      _ = try Store.restore(fixture.path + ".backup", to: fixture.path, options: options)
    }
  }

  /// What must hold after a step, whether it was done or has failed.
  private func examine(_ fixture: AssetFixture, _ step: Step, isDone: Bool, _ place: Comment) throws {
    let store = try fixture.open()
    #expect(try store.check() == [], place)
    for bytes in [Self.large, Self.small] {
      #expect(try store.assets.bytes(of: Self.asset(bytes)) == bytes, place)
    }
    if isDone, step == .put {
      #expect(try store.assets.bytes(of: Self.asset(Self.added)) == Self.added, place)
      #expect(try store.records("notes").get("b") != nil, place)
    }
    if isDone, step == .again {
      #expect(
        try store.assets.bytes(of: Self.asset(Self.dropped)) == Self.dropped, place)
    }
    let report = try store.assets.verify()
    #expect(report.lost == [] && report.damaged == [], place)
    try store.assets.prune()
    #expect(try store.assets.verify().orphans == 0, place)
    let rows = try store.assets.read {
      try $0.connection.number("SELECT count(*) FROM asset WHERE place = 2")
    }
    #expect(Int64(fixture.files().count { !$0.hasPrefix("incoming") }) == rows, place)
    #expect(fixture.files().count { $0.hasPrefix("incoming") } == 0, place)
    try store.close()
    let backup = try Store(path: fixture.path + ".backup")
    #expect(try backup.check() == [], place)
    #expect(try backup.assets.bytes(of: Self.asset(Self.large)) == Self.large, place)
    #expect(try backup.assets.verify().lost == [], place)
    try backup.close()
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var step: Step
    var isForGood: Bool
    var isBeside: Bool
    var testDescription: String {
      "\(step)\(isForGood ? ", for good" : "")\(isBeside ? ", beside another handle" : "")"
    }
  }

  static let cases = Step.allCases.flatMap { step in
    [false, true].flatMap { isForGood in
      // A store that is open is not restored.
      (step == .restore ? [false] : [false, true]).map {
        Case(step: step, isForGood: isForGood, isBeside: $0)
      }
    }
  }

  /// Runs a step once with each call failing, until all have failed.
  private func sweep(
    _ test: Case, _ what: String, parts: Int, options: (inout StoreOptions) -> Void,
    fail: (Int) -> Void, mend: () -> Void, hits: () -> Int
  ) throws {
    for n in 1...3000 where n < 4 || Portion.includes(n, parts: parts) {
      let fixture = try filled()
      let beside = test.isBeside ? try fixture.open() : nil
      let store = try fixture.open(options)
      // The schema is read before.
      _ = try store.assets.list()
      fail(n)
      let before = hits()
      var error: SatchelError?
      do {
        var changed = StoreOptions()
        options(&changed)
        try act(test.step, store, fixture, changed)
      } catch let met as SatchelError {
        error = met
      }
      let isHit = hits() > before
      let place = Comment(rawValue: "\(test.testDescription), \(what) \(n): \(error?.message ?? "done")")
      if let error {
        #expect(isHit && [.io, .full, .readOnly, .busy].contains(error.code), place)
      }
      if let beside {
        #expect(
          try beside.assets.bytes(of: Self.asset(Self.large)) == Self.large, place)
      }
      mend()
      if test.step != .restore {
        // The handle is still usable.
        let asset = try store.assets.put(Self.added)
        #expect(try store.assets.bytes(of: asset) == Self.added, place)
        try store.close()
      }
      try beside?.close()
      try examine(fixture, test.step, isDone: error == nil, place)
      if !isHit { return }
    }
    Issue.record("no end")
  }

  @Test("each call on a file or a directory", arguments: cases)
  func folder(test: Case) throws {
    let disk = FailingCalls()
    for code in Portion.of([EIO, ENOSPC], parts: 2) {
      try sweep(
        test, code == EIO ? "EIO of call" : "ENOSPC of call", parts: 1,
        options: { $0.fileCalls = disk.calls },
        fail: { disk.fail(at: $0, code, forGood: test.isForGood) }, mend: disk.mend, hits: { disk.hits })
    }
  }

  @Test(
    "each call of SQLite", arguments: cases, [FaultyDisk.Operation.read, .write, .sync, .truncate, .open])
  func database(test: Case, operation: FaultyDisk.Operation) throws {
    let disk = try FaultyDisk()
    try sweep(
      test, "\(operation)", parts: 6, options: { ($0.vfsName, $0.busyTimeout) = (disk.name, 200) },
      fail: { disk.fail(operation, at: $0, forGood: test.isForGood) }, mend: disk.heal, hits: { disk.hits })
  }
}
