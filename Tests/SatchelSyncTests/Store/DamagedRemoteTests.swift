import Foundation
import Satchel
import Testing

@Suite("Damage in the remote")
struct DamagedRemoteTests {
  let devices: SyncDevices
  let (one, two): (Store, Store)

  init() throws {
    devices = try SyncDevices()
    (one, two) = (try devices.store("one"), try devices.store("two"))
    let notes = try one.records("notes")
    let text = JSONValue.string(String(repeating: "x", count: 500))
    for number in 0..<100 { try notes.put("\(number)", ["text": text]) }
    try devices.sync(one)
  }

  private var packs: [String] {
    get throws {
      let folder = devices.directory.path + "/remote/records/anna/p"
      return try FileManager.default.contentsOfDirectory(atPath: folder).filter { !$0.contains(".") }.map {
        folder + "/" + $0
      }
    }
  }

  @Test(
    "an unreadable pack is rewritten by a device that has its entries",
    arguments: ["deleted", "cut", "changed"])
  func pack(_ damage: String) throws {
    let path = try #require(try packs.first)
    var bytes = try Data(contentsOf: URL(filePath: path))
    switch damage {
    case "deleted": try FileManager.default.removeItem(atPath: path)
    case "cut": try bytes.prefix(bytes.count / 2).write(to: URL(filePath: path))
    default:
      bytes[bytes.count / 2] ^= 1
      try bytes.write(to: URL(filePath: path))
    }
    let theirs = try two.records("notes")
    do {
      try devices.sync(two)
      Issue.record("nothing was missed")
    } catch let error as SatchelError {
      #expect(error.code == .damaged && error.message.contains(path.suffix(32)))
    }
    #expect(try theirs.count() == 0)
    #expect(try devices.sync(one).repaired == 1, "the other device was told")
    #expect(try devices.sync(two).records.downloaded == 100)
    #expect(try devices.sync(one).requests == 1)
  }

  @Test("without a device that has the data the loss must be accepted") func accepted() throws {
    for path in try packs { try FileManager.default.removeItem(atPath: path) }
    let theirs = try two.records("notes")
    try theirs.put("mine", [:])
    var options = StoreSyncOptions()
    options.acceptLoss = true
    let report = try two.sync(with: devices.remote, user: devices.user, options: options)
    #expect(report.losses.map(\.entries) == [100] && report.records.uploaded == 1)
    // The other device sends again what it has.
    try devices.syncAll(one, two)
    #expect(try theirs.count() == 101 && one.records("notes").count() == 101)
  }
}
