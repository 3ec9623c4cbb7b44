import Foundation
import SatchelCore
import SatchelJSON
import SatchelStorage
import Testing

@testable import SatchelState

@Suite("Sensitive values")
struct SecretTests {
  let fixture: StateFixture
  init() throws { fixture = try StateFixture() }

  private func sealed(_ store: StateFixture.Opened, _ key: String) throws -> [UInt8] {
    let document = try #require(try store.stored(.value, key))
    guard case .sealed(let bytes) = document.content else { throw CancellationError() }
    return bytes
  }

  private func put(_ bytes: [UInt8], _ store: StateFixture.Opened, _ key: String) throws {
    var text: [UInt8] = []
    Base64.append(bytes, to: &text)
    try store.setBody("value/\(key)", "{\"value\":\"\(String(decoding: text, as: UTF8.self))\"}")
  }

  private func open(_ key: [UInt8]?) throws -> StateFixture.Opened {
    let store = try fixture.open()
    if let key { try store.state.setKey(key) }
    return store
  }

  /// Cases 13 to 16 of the GCM proposal (McGrew and Viega): AES-256 with a 96-bit nonce.
  @Test(
    "the cipher matches the published test vectors",
    arguments: [
      ("", "", "", "530f8afbc74536b9a963b4f1c4cb738b", false),
      (
        "00000000000000000000000000000000", "", "cea7403d4d606b6e074ec5d3baf39d18",
        "d0d1c8a799996bf0265b98b5d48ab919", false
      ),
      (
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525"
          + "b16aedf5aa0de657ba637b39",
        "feedfacedeadbeeffeedfacedeadbeefabaddad2",
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838"
          + "c5f61e6393ba7a0abcc9f662",
        "76fc6ece0f4e1768cddf8853bb2d551b", true
      ),
    ])
  func vectors(text: String, context: String, hidden: String, tag: String, isLong: Bool) throws {
    let none = String(repeating: "00", count: 32)
    let key = isLong ? "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308" : none
    let nonce = isLong ? "cafebabefacedbaddecaf888" : String(repeating: "00", count: 12)
    func bytes(_ text: String) throws -> [UInt8] {
      let digits = Array(text.utf8)
      return try stride(from: 0, to: digits.count, by: 2).map {
        try #require(UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16))
      }
    }
    let cipher = try EncryptionKey(bytes(key))
    let sealed = cipher.encrypt(try bytes(text), nonce: try bytes(nonce), context: try bytes(context))
    #expect(sealed.hexadecimal == hidden + tag)
    #expect(cipher.decrypt(sealed, nonce: try bytes(nonce), context: try bytes(context)) == (try bytes(text)))
    #expect(cipher.decrypt(sealed, nonce: try bytes(nonce), context: [1]) == nil)
  }

  @Test(
    "a sensitive value is returned unchanged, and is not stored in plain text anywhere",
    arguments: [false, true])
  func comesBack(isSpooled: Bool) throws {
    let secret = "correct horse battery staple"
    let store = try open(StateFixture.key)
    try store.state.set("token", ["word": .string(secret)], sensitive: true)
    try store.state.set("plain", "in the clear, for comparison")
    #expect(try store.state.get("token") == ["word": .string(secret)])
    let blocker = isSpooled ? try fixture.block() : nil
    #expect(try store.state.flush() != isSpooled)
    #expect(try store.state.get("token") == ["word": .string(secret)])
    var found = ""
    for file in try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path) {
      let bytes = try Data(contentsOf: fixture.directory.appending(path: file))
      found += String(decoding: bytes, as: UTF8.self)
    }
    #expect(found.contains("for comparison"))
    #expect(!found.contains("horse"))
    #expect(!found.contains(Array(secret.utf8).hexadecimal))
    try blocker?.rollback()
    try store.database.close()
    let later = try open(StateFixture.key)
    #expect(try later.state.get("token") == ["word": .string(secret)])
    #expect("\(try EncryptionKey(StateFixture.key))" == "key")
  }

  @Test(
    "without a key, a sensitive value is neither accepted nor returned; a wrong key is reported, and destroys nothing"
  )
  func keys() throws {
    let first = try open(nil)
    #expect(try stateCode { try first.state.set("token", 1, sensitive: true) } == .unauthorized)
    #expect(try first.state.keys() == [])
    for length in [0, 16, 31, 33] {
      #expect(try stateCode { try first.state.setKey([UInt8](repeating: 1, count: length)) } == .invalid)
    }
    try first.state.setKey(StateFixture.key)
    try first.state.set("token", 1, sensitive: true)
    try first.state.set("plain", 2)
    // Before it is saved, too.
    #expect(try stateCode { try first.state.setKey(StateFixture.otherKey) } == .unauthorized)
    #expect(try first.state.get("token") == 1)
    try first.database.close()

    let second = try open(nil)
    #expect(try stateCode { _ = try second.state.get("token") } == .unauthorized)
    #expect(try second.state.get("plain") == 2)
    #expect(try stateCode { try second.state.setKey(StateFixture.otherKey) } == .unauthorized)
    #expect(try stateCode { try second.state.set("token", 3, sensitive: true) } == .unauthorized)
    #expect(try stateCode { try second.state.rotateKey(to: StateFixture.otherKey) } == .unauthorized)
    try second.state.setKey(StateFixture.key)
    #expect(try second.state.get("token") == 1)
    // After losing the key, remove the values sealed with it and set a new key.
    try second.database.close()
    let third = try open(nil)
    #expect(try third.state.keys() == ["plain", "token"])
    try third.state.remove("token")
    try third.state.setKey(StateFixture.otherKey)
    try third.state.set("token", 4, sensitive: true)
    try third.database.close()
    #expect(try open(StateFixture.otherKey).state.get("token") == 4)
  }

  @Test("any modified byte of a sealed value is reported as damage; the other values stay readable")
  func changed() throws {
    let store = try open(StateFixture.key)
    try store.state.set("token", ["word": "secret"], sensitive: true)
    try store.state.set("other", 1, sensitive: true)
    try store.state.flush()
    let bytes = try sealed(store, "token")
    for position in bytes.indices {
      for bit: UInt8 in [1, 0x80] {
        var changed = bytes
        changed[position] ^= bit
        try put(changed, store, "token")
        let code = try stateCode { _ = try store.state.get("token") }
        // The bytes of the key's name: as if sealed by another key.
        #expect(code == ((1...8).contains(position) ? .unauthorized : .damaged), "byte \(position)")
      }
    }
    for count in bytes.indices {
      try put(Array(bytes.prefix(count)), store, "token")
      #expect(try stateCode { _ = try store.state.get("token") } == .damaged)
    }
    // A sealed value that was moved to another key cannot be opened there.
    try put(try sealed(store, "other"), store, "token")
    #expect(try stateCode { _ = try store.state.get("token") } == .damaged)
    try put(bytes, store, "token")
    #expect(try store.state.get("token") == ["word": "secret"])
    #expect(try store.state.get("other") == 1)
  }

  @Test("rotating reseals all values; the old key no longer opens any")
  func rotating() throws {
    let store = try open(StateFixture.key)
    for number in 0..<20 { try store.state.set("\(number)", .int(Int64(number)), sensitive: true) }
    try store.state.flush()
    try store.state.set("pending", "p", sensitive: true)
    let before = try sealed(store, "7")
    try store.state.rotateKey(to: StateFixture.otherKey)
    #expect(try sealed(store, "7") != before)
    try store.state.set("later", "l", sensitive: true)
    for number in 0..<20 { #expect(try store.state.get("\(number)") == .int(Int64(number))) }
    try store.database.close()
    let reader = try open(nil)
    #expect(try stateCode { try reader.state.setKey(StateFixture.key) } == .unauthorized)
    try reader.state.setKey(StateFixture.otherKey)
    #expect(try reader.state.get("pending") == "p")
    #expect(try reader.state.get("later") == "l")
    #expect(try reader.state.get("19") == 19)
  }

  @Test("an interrupted rotation leaves every value unchanged, under the old key")
  func interrupted() throws {
    let store = try open(StateFixture.key)
    for number in 0..<5 { try store.state.set("\(number)", .int(Int64(number)), sensitive: true) }
    try store.state.flush()
    // A value that cannot be opened stops it in the middle.
    var broken = try sealed(store, "3")
    let sound = broken
    broken[broken.count - 1] ^= 1
    try put(broken, store, "3")
    #expect(try stateCode { try store.state.rotateKey(to: StateFixture.otherKey) } == .damaged)
    try put(sound, store, "3")
    // So does a store that cannot be written.
    let blocker = try fixture.block()
    #expect(try stateCode { try store.state.rotateKey(to: StateFixture.otherKey) } == .busy)
    try store.state.set("waits", 1, sensitive: true)
    #expect(try stateCode { try store.state.rotateKey(to: StateFixture.otherKey) } == .busy)
    try blocker.rollback()
    #expect(try store.state.get("waits") == 1)
    try store.database.close()
    let later = try open(StateFixture.key)
    for number in 0..<5 { #expect(try later.state.get("\(number)") == .int(Int64(number))) }
    try later.state.rotateKey(to: StateFixture.otherKey)
    #expect(try later.state.get("3") == 3)
    #expect(try later.state.get("waits") == 1)
  }

  @Test("threads set and read sensitive values during a rotation, and lose none")
  func rotatingThreads() throws {
    let store = try fixture.open(nil, StateFixture.quickly) { $0.busyTimeout = 5000 }
    try store.state.setKey(StateFixture.key)
    try stateThreads(4) { number in
      if number == 0 {
        for round in 1...10 {
          try store.state.rotateKey(to: [UInt8](repeating: UInt8(round), count: 32))
        }
        return
      }
      for round in 0..<60 {
        let key = "\(number) \(round % 7)"
        try store.state.set(key, .int(Int64(round)), sensitive: true)
        #expect(try store.state.get(key) == .int(Int64(round)))
      }
    }
    try store.database.close()
    let later = try open([UInt8](repeating: 10, count: 32))
    for key in try later.state.keys() { #expect(try later.state.get(key) != nil) }
    #expect(try later.state.keys().count == 21)
  }

  @Test("another process's new key is detected: no value is sealed with the old one")
  func otherHandle() throws {
    let (first, second) = (try open(StateFixture.key), try open(StateFixture.key))
    try first.state.set("token", 1, sensitive: true)
    try first.state.flush()
    try first.state.rotateKey(to: StateFixture.otherKey)
    #expect(try stateCode { _ = try second.state.get("token") } == .unauthorized)
    #expect(try stateCode { try second.state.set("new", 1, sensitive: true) } == .unauthorized)
    try second.state.setKey(StateFixture.otherKey)
    #expect(try second.state.get("token") == 1)
  }
}
