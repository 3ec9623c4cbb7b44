import SatchelCore
import SatchelTesting
import Testing

import SatchelRemote
@testable import SatchelSync

@Suite("A sync log that somebody without its key has replaced")
struct SyncLogStrangerTests {
  private let store = SyncMemoryStore()
  private let one: SyncTestDevice
  private let two: SyncTestDevice
  private let key: EncryptionKey
  private let other: EncryptionKey
  private static let headKey = "records/somebody/head"

  /// Two devices have read the log with the key.
  init() throws {
    (one, two) = (try SyncTestDevice(), try SyncTestDevice())
    key = try EncryptionKey(SyncTestDevice.key)
    other = try EncryptionKey([UInt8](1...32))
    try one.client.edit("a", ["x": "1"])
    for device in [one, two] { try sync(device) }
    try two.client.edit("b", ["x": "3"])
  }

  /// How a stranger writes a head.
  enum Forgery: CaseIterable {
    case plain, plainAndDamaged, ofAnotherKey, ofAnotherKeyAndDamaged
    var hasKey: Bool { self == .ofAnotherKey || self == .ofAnotherKeyAndDamaged }
    var isDamaged: Bool { self == .plainAndDamaged || self == .ofAnotherKeyAndDamaged }
  }

  /// Replaces the head by that of a log with an entry of the stranger's own.
  private func replaceHead(_ forgery: Forgery) throws {
    let (forged, stranger) = (SyncMemoryStore(), try SyncTestDevice())
    try stranger.client.edit("evil", ["x": "2"])
    try stranger.sync(forged) { $0.key = forgery.hasKey ? other : nil }
    var object = try #require(forged.objects[Self.headKey])
    if forgery.isDamaged { object.body.removeLast() }
    object.etag = try #require(ETag("forged"))
    store.objects[Self.headKey] = object
  }

  @discardableResult
  private func sync(_ device: SyncTestDevice, acceptsLoss: Bool = false) throws -> SyncLogReport {
    try device.sync(store) { ($0.key, $0.acceptsLoss) = (key, acceptsLoss) }
  }

  @Test("is refused, and no error advises to adopt it", arguments: Forgery.allCases)
  func isRefused(forgery: Forgery) throws {
    try replaceHead(forgery)
    let (before, remote) = (try one.dump(), store.objects.mapValues(\.body))
    func expect(_ body: () throws -> SyncLogReport) throws {
      let error = #expect(throws: SatchelError.self) { try body() }
      #expect(error?.code == .unauthorized && error?.message.contains("rekey") == false)
      #expect(error?.message.contains("encrypt the log") == false)
      #expect(try one.dump() == before && store.objects.mapValues(\.body) == remote)
    }
    let third = try EncryptionKey([UInt8](2...33))
    for key in [key, nil, third] { try expect { try one.sync(store) { $0.key = key } } }
    for key in [nil, third] {
      try expect { try one.sync(store) { ($0.key, $0.acceptsLoss) = (key, true) } }
    }
    for (old, new) in [(nil, key), (nil, third), (key, third)] as [(EncryptionKey?, EncryptionKey)] {
      var run = try one.run(store) { $0.key = old }
      try expect { try run.rekey(to: new) }
    }
    var preview = try one.run(store) { $0.key = key }
    #expect(throws: SatchelError.self) { try preview.preview() }
  }

  @Test("is replaced by the data of the devices when the loss is accepted", arguments: Forgery.allCases)
  func isReplaced(forgery: Forgery) throws {
    try replaceHead(forgery)
    try sync(one, acceptsLoss: true)
    for device in [two, one] { try sync(device) }
    #expect(try one.client.documents() == ["things/a": ["x": "1"], "things/b": ["x": "3"]])
    #expect(try two.client.documents() == one.client.documents())
    let head = try SyncHead(parsing: store.objects[Self.headKey]?.body ?? [])
    #expect(head.key == key.name.hexadecimal && head.position.epoch == 2)
  }

  @Test("is replaced by devices with a key that have never read one, when it is damaged and has no key")
  func isReplacedByNewDevices() throws {
    try replaceHead(.plainAndDamaged)
    let new = try SyncTestDevice()
    try new.client.edit("c", ["x": "4"])
    #expect(throws: SatchelError.self) { try sync(new) }
    try sync(new, acceptsLoss: true)
    for device in [one, two, new] { try sync(device) }
    #expect(try new.client.documents().keys.sorted() == ["things/a", "things/b", "things/c"])
  }

  private func rekey(_ device: SyncTestDevice, from old: EncryptionKey?, to new: EncryptionKey?) throws {
    var run = try device.run(store) { $0.key = old }
    _ = try run.rekey(to: new)
  }

  @Test("is not one whose key another device has changed, whatever is accepted", arguments: [false, true])
  func isRekeyed(isDecryptedFirst: Bool) throws {
    if isDecryptedFirst { try rekey(two, from: key, to: nil) }
    try rekey(two, from: isDecryptedFirst ? nil : key, to: other)
    for acceptsLoss in [false, true] {
      let error = #expect(throws: SatchelError.self) { try sync(one, acceptsLoss: acceptsLoss) }
      #expect(error?.code == .unauthorized && error?.message.contains("replaced") == false)
    }
    try one.sync(store) { $0.key = other }
    #expect(try one.client.documents().keys.sorted() == ["things/a", "things/b"])
  }

  @Test(
    "is a stranger's, too, when it has the proof of a change of the key that was taken back",
    arguments: [false, true])
  func isCopied(isDecrypted: Bool) throws {
    let new = isDecrypted ? nil : other
    try rekey(two, from: key, to: new)
    let proof = try SyncHead(parsing: store.objects[Self.headKey]?.body ?? []).successions
    let former = try SyncLogKey(key)
    #expect(proof.count == 1 && proof.first?.isProven(by: former, SyncTestDevice.user) == true)
    try rekey(two, from: new, to: key)
    try sync(one)
    var forged = try SyncHead(parsing: store.objects[Self.headKey]?.body ?? [])
    forged.position.epoch += 1
    forged.sign(try SyncLogKey(other), SyncTestDevice.user)
    forged.successions = proof
    store.objects[Self.headKey] = SyncMemoryStore.Object(
      body: forged.serialized(), etag: try #require(ETag("forged")), metadata: .none)
    #expect(throws: SatchelError.self) { try sync(one) }
    try sync(one, acceptsLoss: true)
    for device in [one, two] { try sync(device) }
    #expect(try two.client.documents().keys.sorted() == ["things/a", "things/b"])
  }

  @Test("is not one whose key was changed many times while the device was away") func isRekeyedOften() throws
  {
    let keys = try [key] + (UInt8(0)..<20).map { try EncryptionKey([UInt8](repeating: $0, count: 32)) }
    for (former, new) in zip(keys, keys.dropFirst()) { try rekey(two, from: former, to: new) }
    // With its former key it learns that the key was changed, and with the latest one it joins the log.
    let error = #expect(throws: SatchelError.self) { try sync(one, acceptsLoss: true) }
    #expect(error?.code == .unauthorized && error?.message.contains("replaced") == false)
    try one.sync(store) { $0.key = keys.last }
    #expect(try one.client.documents().keys.sorted() == ["things/a", "things/b"])
  }

  @Test("keeps the proofs of the latest changes of the key") func keepsProofs() throws {
    let former = try SyncLogKey(key)
    try rekey(two, from: key, to: other)
    var head = try SyncHead(parsing: store.objects[Self.headKey]?.body ?? [])
    let other = try SyncLogKey(other)
    for epoch in 3..<Int64(SyncSuccession.maximumCount + 2) {
      head.successions.append(SyncSuccession(from: former, to: other, epoch: epoch, SyncTestDevice.user))
    }
    head.sign(other, SyncTestDevice.user)
    #expect(try SyncHead(parsing: head.serialized()) == head)
    store.objects[Self.headKey] = SyncMemoryStore.Object(
      body: head.serialized(), etag: try #require(ETag("full")), metadata: .none)
    try rekey(two, from: self.other, to: key)
    let latest = try SyncHead(parsing: store.objects[Self.headKey]?.body ?? []).successions
    #expect(latest.count == SyncSuccession.maximumCount)
    #expect(latest.last?.key == former.name && latest.first?.epoch == head.successions[1].epoch)
    var hostile = String(decoding: head.serialized(), as: UTF8.self)
    hostile.replace("{\"epoch\":11", with: "{\"epoch\":-1")
    #expect(throws: SatchelError.self) { try SyncHead(parsing: Array(hostile.utf8)) }
    head.successions.append(SyncSuccession(from: former, to: other, epoch: 99, SyncTestDevice.user))
    #expect(throws: SatchelError.self) { try SyncHead(parsing: head.serialized()) }
  }

  @Test("is known to be that of a stranger after detaching, and after the store has lost its head")
  func isKnownLater() throws {
    try replaceHead(.plain)
    try one.ledger.repair()
    try two.ledger.detach()
    for device in [one, two] {
      let error = #expect(throws: SatchelError.self) { try device.sync(store) }
      #expect(error?.code == .unauthorized)
      #expect(throws: SatchelError.self) { try sync(device) }
    }
    for device in [two, one, two] { try sync(device, acceptsLoss: true) }
    #expect(try one.client.documents() == ["things/a": ["x": "1"], "things/b": ["x": "3"]])
    #expect(try two.client.documents() == one.client.documents())
  }
}
