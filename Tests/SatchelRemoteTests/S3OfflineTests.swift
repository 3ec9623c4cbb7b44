import CCurl
import SatchelJSON
import SatchelRemoteTesting
import SatchelCore
import SatchelStorage
import Testing

@testable import SatchelRemote

@Suite("A bucket that cannot be reached")
struct S3OfflineTests {
  private static func store(_ address: String) throws -> S3Store {
    let credentials = try Credentials(accessKey: "AKVISIBLE", secretKey: "HUSH")
    return try S3Store(
      endpoint: S3Endpoint(address: address, bucket: "bucket"), credentials: credentials,
      options: S3Options(timeouts: HTTPTimeouts(connect: 2000)))
  }

  @Test(
    "has done nothing, and a retry may succeed",
    arguments: ["http://127.0.0.1:1", "https://127.0.0.1:1", "http://nobody.invalid"])
  func unreachable(address: String) throws {
    let store = try Self.store(address)
    let key = try ObjectKey("k")
    let later = ObjectStoreError.Reason.transient(retryAfter: nil)
    #expect(try reason { _ = try store.get(key) } == later)
    #expect(try reason { try store.put(key, [1], condition: .ifAbsent) } == later)
    #expect(try reason { _ = try store.list() } == later)
  }

  @Test("a missing library is named with its package")
  func missingLibrary() {
    var message = [CChar](repeating: 0, count: 256)
    #expect(!ccurl_can_load("libnowhere.so.4", &message, message.count))
    #expect(String(message: message).contains("libnowhere.so.4 is not installed"))
    #expect(String(message: message).contains("libcurl4"))
    // expat is a library, but not libcurl.
    #expect(!ccurl_can_load("libexpat.so.1", &message, message.count))
    #expect(String(message: message).contains("libexpat.so.1 is too old: it has no curl_global_init"))
  }

  private let environment: @Sendable (String) -> String? = { name in
    [
      "AWS_ACCESS_KEY_ID": "FROMTHERE", "AWS_SECRET_ACCESS_KEY": "HUSH", "AWS_SESSION_TOKEN": "QUIET",
      "AWS_DEFAULT_REGION": "eu-west-3", "AWS_ENDPOINT_URL_S3": "",
    ][name]
  }

  @Test("missing options come from the environment")
  func environmentVariables() throws {
    let store = try S3Store(json: ["bucket": "pictures", "prefix": "a/b/"], environment: environment)
    #expect(store.endpoint.origin == "https://pictures.s3.eu-west-3.amazonaws.com")
    #expect(store.endpoint.prefix?.text == "a/b")
    #expect(store.credentials.known?.accessKey == "FROMTHERE")
    #expect(store.credentials.known?.sessionToken?.text == "QUIET")
    let own: JSONValue = [
      "bucket": "pictures", "access_key": "MINE", "secret_key": "MINETOO", "endpoint": "http://127.0.0.1:9",
      "timeouts": ["stall": 5],
    ]
    let other = try S3Store(json: own, environment: environment)
    #expect(other.endpoint.style == .path)
    #expect(other.options.timeouts == HTTPTimeouts(stall: 5))
    // A token is never combined with keys from another source.
    #expect(other.credentials.known?.sessionToken == nil)
    #expect(
      try reason { _ = try S3Store(json: ["bucket": "b-b"], environment: { _ in nil }) } == .failed(.invalid))
  }

  @Test(
    "an invalid description is refused",
    arguments: [
      [], "x", ["endpoint": "https://h"], ["bucket": 7], ["bucket": "bucket", "secret": "HUSH"],
      ["bucket": "bucket", "path_style": "yes"], ["bucket": "bucket", "timeouts": 5],
      ["bucket": "bucket", "timeouts": ["stall": -1]], ["bucket": "bucket", "timeouts": ["slow": 1]],
      ["bucket": "bucket", "access_key": "MINE"], ["bucket": "bucket", "endpoint": "ftp://h"],
      ["bucket": "bucket", "region": "eu/west"],
    ] as [JSONValue])
  func refused(json: JSONValue) throws {
    #expect(try reason { _ = try S3Store(json: json, environment: environment) } == .failed(.invalid))
    let prefix: JSONValue = ["bucket": "bucket", "prefix": "../up"]
    #expect(try reason { _ = try S3Store(json: prefix, environment: environment) } == .invalidKey)
  }

  @Test("secrets are not printed, and are erased afterwards")
  func secrets() throws {
    let secret = try #require(Secret("HUSH"))
    #expect(secret.text == "HUSH" && secret.withBytes { $0.count } == 4)
    var shown = "\(secret) \(String(reflecting: secret))"
    dump(secret, to: &shown)
    #expect(!shown.contains("HUSH"))
    #expect(Secret(String(repeating: "x", count: 10_000))?.text.count == 10_000)
    var bytes = [UInt8]("HUSH")
    bytes.erase()
    #expect(bytes == [0, 0, 0, 0])
    let credentials = try Credentials(accessKey: "AK", secretKey: "SK", sessionToken: "TK")
    #expect(["an AK", "SK!", "TK"].allSatisfy(credentials.appear(in:)) && !credentials.appear(in: "A K S T"))
  }
}
