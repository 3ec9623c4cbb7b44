import Foundation
import Satchel
import SatchelCore
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelAssets

/// Two handles, of which one acts in the middle of a step of the other: between the sync of a file, its rename, the commit,
/// and the deletion of files.
@Suite("Steps of assets between those of another process")
struct AssetScheduleTests {
  private let fixture: AssetFixture
  private let bytes = AssetFixture.bytes(100_000, 1)
  private var asset: Asset { Asset(AssetDigest(SHA256.digest(bytes))) }

  init() throws { fixture = try AssetFixture() }

  /// What runs once, before a call on the folder.
  private final class Hook: Sendable {
    private let action = Locked<(@Sendable () -> Void)?>(nil)
    let count = Locked(0)

    func set(_ body: @escaping @Sendable () -> Void) { action.withLock { $0 = body } }

    func run() {
      let taken = action.withLock { action in
        defer { action = nil }
        return action
      }
      guard let taken else { return }
      count.withLock { $0 += 1 }
      taken()
    }
  }

  private enum Call { case sync, rename, remove }

  private func open(hooking call: Call, _ hook: Hook) throws -> Store {
    let system = FileCalls.system
    var calls = system
    switch call {
    case .sync:
      calls.sync = {
        hook.run()
        return system.sync($0)
      }
    case .rename:
      calls.renameIn = {
        hook.run()
        return system.renameIn($0, $1, $2, $3)
      }
    case .remove:
      calls.remove = {
        hook.run()
        return system.remove($0, $1)
      }
    }
    return try fixture.open { $0.fileCalls = calls }
  }

  private func other() throws -> Store { try fixture.open { $0.busyTimeout = 50 } }

  @Test func `a file gets its name under the write lock, so that no sweep takes it before its row is there`()
    throws
  {
    let (hook, other) = (Hook(), try other())
    try other.assets.put([1])
    let store = try open(hooking: .rename, hook)
    hook.set { #expect(code { try other.assets.sweep() } == .busy) }
    try store.assets.put(bytes)
    #expect(hook.count.withLock { $0 } == 1)
    try other.assets.verify()
    #expect(try store.assets.bytes(of: asset) == bytes)
  }

  @Test func `a file that is being written is not swept, and a sweep before its transaction costs nothing`()
    throws
  {
    let (hook, other) = (Hook(), try other())
    try other.assets.put(AssetFixture.bytes(90_000, 2))
    let store = try open(hooking: .sync, hook)
    hook.set {
      #expect(code { try other.assets.verify() } == nil)
      #expect(code { try other.assets.prune() } == nil)
    }
    try store.assets.put(bytes)
    #expect(hook.count.withLock { $0 } == 1)
    #expect(try store.assets.bytes(of: asset) == bytes)
    #expect(try store.check() == [])
  }

  @Test func `the same asset is put by another process while this one writes its file`() throws {
    let (hook, other) = (Hook(), try other())
    try other.assets.put([1])
    let store = try open(hooking: .sync, hook)
    let bytes = bytes
    hook.set { #expect(code { try other.assets.put(bytes) } == nil) }
    try store.assets.put(bytes)
    #expect(try store.assets.bytes(of: asset) == bytes)
    #expect(fixture.files().count == 1)
    #expect(try store.assets.verify() == AssetVerifyReport(checked: 2))
  }

  @Test func `files are deleted under the write lock, so that none is put again meanwhile`() throws {
    let (hook, other) = (Hook(), try other())
    let store = try open(hooking: .remove, hook)
    try store.assets.put(bytes)
    fixture.time.pass(hours: 2)
    let bytes = bytes
    hook.set { #expect(code { try other.assets.put(bytes) } == .busy) }
    #expect(try store.assets.prune().removed == 1)
    #expect(hook.count.withLock { $0 } == 1)
    #expect(try other.assets.state(of: asset) == .missing)
    try other.assets.put(bytes)
    #expect(try store.assets.bytes(of: asset) == bytes)
    #expect(try store.check() == [])
  }

  @Test func `a file that is opened while others are deleted is read to its end, or is not there`() throws {
    let (hook, other) = (Hook(), try other())
    let store = try open(hooking: .remove, hook)
    try store.assets.put(bytes)
    try store.records("notes").put("a", ["kept": try store.assets.put(AssetFixture.bytes(90_000, 2)).json])
    fixture.time.pass(hours: 2)
    let asset = asset
    // The row is gone, and the file is not: nobody waits for the lock of the folder.
    hook.set { #expect(code { _ = try other.assets.open(asset) } == .notFound) }
    try store.assets.prune()
    #expect(hook.count.withLock { $0 } == 1)
    #expect(fixture.files().count == 1)
  }

  @Test func `an asset that is put, dropped and put again by commits of two handles keeps its file`() throws {
    let (one, two) = (try fixture.open(), try fixture.open())
    for _ in 0..<10 {
      try one.records("notes").put("a", ["picture": try two.assets.put(bytes).json])
      try two.records("notes").delete("a")
      fixture.time.pass(hours: 2)
      // Its file waits to be deleted while a reader is open.
      let reader = try one.assets.open(asset)
      fixture.time.pass(hours: 2)
      try two.assets.prune()
      try one.assets.put(bytes)
      withExtendedLifetime(reader) {}
      try two.assets.prune()
      #expect(try one.assets.open(asset, verifying: true).size == 100_000)
      #expect(try one.check() == [])
    }
  }
}
