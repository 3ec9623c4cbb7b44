import Foundation
import Satchel
import SatchelCore
import SatchelTesting
import Testing

@testable import SatchelAssets

/// The folder of assets as another program, or a user, may leave it: nothing outside of it is touched, nothing blocks,
/// and what can be had is had.
@Suite("A folder of assets that others have changed")
struct AssetHostileTests {
  private let fixture: AssetFixture
  private let bytes = AssetFixture.bytes(100_000, 1)
  private var digest: String { SHA256.digest(bytes).hexadecimal }
  private var folder: String { fixture.path + ".assets" }
  private var file: String { "\(folder)/\(digest.prefix(2))/\(digest)" }

  init() throws { fixture = try AssetFixture() }

  private func filled() throws -> (store: Store, asset: Asset) {
    let store = try fixture.open()
    let asset = try store.assets.put(bytes)
    try store.records("notes").put("a", ["picture": asset.json])
    return (store, asset)
  }

  private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  enum Thing: CaseIterable, Sendable { case pipe, link, directory, other, empty }

  private func replace(_ path: String, with thing: Thing, _ outside: String) throws {
    try FileManager.default.removeItem(atPath: path)
    switch thing {
    case .pipe: #expect(mkfifo(path, 0o600) == 0)
    case .link: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: outside)
    case .directory:
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      try Data([1]).write(to: URL(filePath: path + "/kept"))
    case .other: try Data([UInt8](repeating: 7, count: bytes.count)).write(to: URL(filePath: path))
    case .empty: try Data().write(to: URL(filePath: path))
    }
  }

  @Test(arguments: Thing.allCases)
  func `something else in the place of a file is found, and nothing behind it is read or changed`(
    thing: Thing
  ) throws {
    let (store, asset) = try filled()
    let outside = fixture.directory.path + "/outside"
    try Data(bytes).write(to: URL(filePath: outside))
    try replace(file, with: thing, outside)
    let met = code { _ = try store.assets.open(asset, verifying: true) }
    #expect(met == .damaged || met == .invalid || met == .io, "\(String(describing: met))")
    if thing != .other { #expect(try store.check().map(\.code) == ["asset"]) }
    let report = try store.assets.verify()
    #expect(report.damaged == [digest] && report.lost == [])
    #expect(try store.assets.state(of: asset) == .missing)
    // A directory is not ours; everything else is removed.
    #expect(exists(file) == (thing == .directory))
    if thing == .directory {
      #expect(exists(file + "/kept"))
      #expect(code { try store.assets.put(bytes) } != nil)
      try FileManager.default.removeItem(atPath: file)
    }
    try store.assets.put(bytes)
    #expect(try store.assets.bytes(of: asset) == bytes)
    #expect(try store.check() == [])
    #expect(try Data(contentsOf: URL(filePath: outside)) == Data(bytes))
  }

  enum Part: CaseIterable, Sendable { case folder, prefix, incoming }

  @Test(arguments: Part.allCases)
  func `a link in the place of a directory is not followed`(part: Part) throws {
    let (store, asset) = try filled()
    let outside = fixture.directory.path + "/outside"
    let path =
      switch part {
      case .folder: folder
      case .prefix: "\(folder)/\(digest.prefix(2))"
      case .incoming: folder + "/incoming"
      }
    try FileManager.default.moveItem(atPath: path, toPath: outside)
    let kept = outside + "/" + String(repeating: "1", count: 32)
    try Data([1]).write(to: URL(filePath: kept))
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: outside)
    let before = try FileManager.default.subpathsOfDirectory(atPath: outside).sorted()
    if part == .incoming {
      #expect(try store.assets.bytes(of: asset) == bytes)
      #expect(code { try store.assets.put(AssetFixture.bytes(90_000, 2)) } != nil)
    } else {
      #expect(code { _ = try store.assets.bytes(of: asset) } != nil)
    }
    _ = try? store.assets.verify()
    _ = try? store.assets.prune()
    #expect(try FileManager.default.subpathsOfDirectory(atPath: outside).sorted() == before)
    #expect(exists(kept))
    // Without the link it goes on; small assets need no folder.
    #expect(try store.assets.put([1, 2, 3]).size == 3)
    try FileManager.default.removeItem(atPath: path)
    try store.assets.put(bytes)
    #expect(try store.assets.bytes(of: asset) == bytes)
  }

  @Test func `a pipe or a directory in the place of the lock gives an error, and blocks nothing`() throws {
    let (store, asset) = try filled()
    for thing in [Thing.pipe, .directory] {
      if !exists(folder + "/lock") { try Data().write(to: URL(filePath: folder + "/lock")) }
      try replace(folder + "/lock", with: thing, "")
      // Reading needs no lock.
      #expect(try store.assets.bytes(of: asset) == bytes)
      do {
        _ = try store.assets.open(asset).path
        Issue.record("its path was given")
      } catch {
        #expect((error as? SatchelError)?.message.contains(folder + "/lock") == true, "\(error)")
      }
      try FileManager.default.removeItem(atPath: folder + "/lock")
    }
    #expect(try store.assets.bytes(of: asset) == bytes)
    #expect(try store.check() == [])
  }

  @Test func `junk in the folder is neither read nor deleted, but what is in incoming is`() throws {
    let (store, asset) = try filled()
    let outside = fixture.directory.path + "/outside"
    try Data([1]).write(to: URL(filePath: outside))
    for name in ["notes.txt", "zz", "ab", "incoming/link", "incoming/pipe", "incoming/directory"] {
      let path = "\(folder)/\(name)"
      try Data([1]).write(to: URL(filePath: path))
      switch name {
      case "incoming/link": try replace(path, with: .link, outside)
      case "incoming/pipe": try replace(path, with: .pipe, "")
      case "incoming/directory": try replace(path, with: .directory, "")
      default: break
      }
    }
    for number in 0..<500 { try Data([1]).write(to: URL(filePath: "\(folder)/incoming/\(number)")) }
    let prefix = digest.prefix(2)
    for name in ["x", "\(digest)~", digest.uppercased()] {
      try Data([1]).write(to: URL(filePath: "\(folder)/\(prefix)/\(name)"))
    }
    #expect(try store.assets.verify() == AssetVerifyReport(checked: 1))
    #expect(try store.assets.bytes(of: asset) == bytes)
    #expect(exists(outside) && exists(folder + "/notes.txt") && exists(folder + "/zz"))
    #expect(exists("\(folder)/\(prefix)/x") && exists(folder + "/incoming/directory/kept"))
    #expect(!exists(folder + "/incoming/499"))
    try store.backup(to: fixture.path + ".backup")
    #expect(fixture.files(of: fixture.path + ".backup").count == 1)
  }

  @Test func `a file that a sweep of another process takes before it is locked is made again`() async throws {
    let store = try fixture.open()
    let (other, bytes) = (try fixture.open(), (0..<40).map { AssetFixture.bytes(70_000, $0) })
    try store.assets.put(bytes[0])
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { for _ in 0..<200 { try other.assets.folder.removeAbandoned { _ in false } } }
      group.addTask { for each in bytes { try store.assets.put(each) } }
      try await group.waitForAll()
    }
    #expect(try store.assets.verify() == AssetVerifyReport(checked: 40))
  }

  @Test func `a backup whose folder another backup is about to fill keeps its files`() throws {
    let (store, asset) = try filled()
    let backup = fixture.path + ".backup"
    try store.backup(to: backup)
    // Another process has made the files of a newer backup, and not yet its rows.
    let next = AssetFolder(of: backup)
    let lock = try next.makeLocked()
    let newer = "\(backup).assets/ab/ab" + String(repeating: "0", count: 62)
    try FileManager.default.createDirectory(atPath: "\(backup).assets/ab", withIntermediateDirectories: true)
    try Data([1]).write(to: URL(filePath: newer))
    try AssetStore.removeOtherFiles(of: backup)
    try next.removeAll(withoutBackup: fixture.path + ".none")
    #expect(exists(newer))
    withExtendedLifetime(lock) {}
    #expect(try Store(path: backup).assets.bytes(of: asset) == bytes)
  }
}
