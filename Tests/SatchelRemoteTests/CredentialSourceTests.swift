import Foundation
import SatchelCore
import SatchelJSON
import SatchelRemoteTesting
import SatchelTesting
import Testing

@testable import SatchelRemote

@Suite("Where credentials come from")
struct CredentialSourceTests {
  private let home: TemporaryDirectory
  private let files = """
    # of a tool
    [default]
    aws_access_key_id = DEFAULT
    aws_secret_access_key=HUSH
    \tindented = no value

    [work]
    AWS_ACCESS_KEY_ID=WORK\r
    aws_secret_access_key = a=b
    aws_session_token = QUIET
    [half]
    aws_access_key_id = HALF
    """

  init() throws {
    home = try TemporaryDirectory()
    try home.write(files, to: ".aws/credentials")
    try home.write(
      "[default]\nregion = eu-west-3\n[profile work]\nregion=eu-north-1\nendpoint_url = http://h:9\n"
        + "[profile config]\naws_access_key_id=CONFIG\naws_secret_access_key=X\n[profile sso]\nsso_session = s\n",
      to: ".aws/config")
  }

  private func store(_ more: JSONObject = [:], _ variables: [String: String] = [:]) throws -> S3Store {
    var options: JSONObject = ["bucket": "bucket"]
    for (name, value) in more { options[name] = value }
    let all = variables.merging(["HOME": home.path]) { $1 }
    return try S3Store(json: .object(options), environment: { all[$0] })
  }

  @Test("a named profile, then the environment, then the profile of the environment")
  func order() throws {
    let keys = ["AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "S"]
    #expect(try store(["profile": "work"], keys).credentials.known?.accessKey == "WORK")
    #expect(
      try store([:], keys.merging(["AWS_PROFILE": "work"]) { $1 }).credentials.known?.accessKey == "ENV")
    #expect(try store([:], ["AWS_PROFILE": "work"]).credentials.known?.accessKey == "WORK")
    #expect(try store().credentials.known?.accessKey == "DEFAULT")
    #expect(try store(["profile": "config"]).credentials.known?.accessKey == "CONFIG")
    // Half of a pair in the environment is not combined with the other half of a file.
    #expect(try store([:], ["AWS_ACCESS_KEY_ID": "ENV"]).credentials.known?.accessKey == "DEFAULT")
    let work = try store(["profile": "work"])
    #expect(work.credentials.known?.secretKey.text == "a=b")
    #expect(work.credentials.known?.sessionToken?.text == "QUIET")
    #expect(work.endpoint.origin == "http://h:9")
    #expect(try store().endpoint.origin == "https://bucket.s3.eu-west-3.amazonaws.com")
  }

  @Test("files may be elsewhere, and may be missing")
  func places() throws {
    try home.write("[default]\naws_access_key_id=MOVED\naws_secret_access_key=S", to: "keys")
    let moved = try store([:], ["AWS_SHARED_CREDENTIALS_FILE": home.path + "/keys"])
    #expect(moved.credentials.known?.accessKey == "MOVED")
    try FileManager.default.removeItem(atPath: home.path + "/.aws")
    #expect(try reason { _ = try store() } == .failed(.invalid))
  }

  @Test(
    "a profile without keys is named",
    arguments: [("half", "half"), ("none", "none"), ("sso", "sso_session")])
  func missing(profile: String, named: String) throws {
    do {
      _ = try store(["profile": .string(profile)])
      Issue.record("opened")
    } catch let error as ObjectStoreError {
      #expect(error.reason == .failed(.invalid) && error.message.contains(named))
    }
  }

  @Test("two sources at once are refused")
  func exclusive() throws {
    let both: JSONObject = ["profile": "work", "access_key": "A", "secret_key": "B"]
    #expect(try reason { _ = try store(both) } == .failed(.invalid))
    let function = CredentialSource { try Credentials(accessKey: "F", secretKey: "G") }
    let json: JSONValue = ["bucket": "bucket", "profile": "work"]
    #expect(
      try reason { _ = try S3Store(json: json, credentials: function, environment: { _ in nil }) }
        == .failed(.invalid))
  }

  @Test("a function is asked at first, again before they expire, and once for all threads")
  func function() throws {
    let count = Locked(Int64(0))
    let source = CredentialSource {
      let number = count.withLock { count in
        count += 1
        return count
      }
      return try Credentials(accessKey: "K\(number)", secretKey: "S", expires: number * 1_000_000)
    }
    #expect(source.known == nil)
    #expect(try source.current(at: 0).accessKey == "K1")
    #expect(try source.current(at: 939_999).accessKey == "K1")
    let first = try source.current(at: 0)
    #expect(try source.current(at: 940_000).accessKey == "K2")
    // Another thread has renewed them already.
    #expect(try source.renew(first))
    #expect(count.withLock { $0 } == 2)
    #expect(try source.renew(source.current(at: 0)))
    #expect(count.withLock { $0 } == 3)
  }

  @Test("an error of the function is a lack of credentials, unless it says that it is temporary")
  func failing() throws {
    let source = CredentialSource { throw SatchelError(.io, "no safe") }
    do {
      _ = try source.current(at: 0)
      Issue.record("given")
    } catch {
      #expect(error.reason == .denied && error.message.contains("no safe") && error.faultClass == .remote)
    }
    let later = CredentialSource { throw ObjectStoreError(.transient(retryAfter: nil), "offline") }
    #expect(try reason { _ = try later.current(at: 0) } == .transient(retryAfter: nil))
    let same = CredentialSource { try Credentials(accessKey: "A", secretKey: "B") }
    #expect(try !same.renew(same.current(at: 0)))
  }

  @Test(
    "what the store no longer accepts is renewed, and the request is repeated with its whole body",
    .enabled(if: TestServer.current != nil),
    arguments: ["ExpiredToken", "InvalidAccessKeyId"])
  func renewed(code: String) throws {
    let refusal: JSONValue = [
      "fault": "status", "code": 400, "body": .string("<Error><Code>\(code)</Code></Error>"),
    ]
    try FaultProxy.with([]) { plain, proxy throws in
      let known = try plain.credentials.current(at: 0)
      let count = Locked(0)
      let source = CredentialSource {
        let number = count.withLock { count in
          count += 1
          return count
        }
        // The first ones are of a server that does not check them: the answer is the proxy's.
        return number == 1 ? try Credentials(accessKey: "OLD", secretKey: "S") : known
      }
      let store = try S3Store(endpoint: plain.endpoint, credentials: source)
      try proxy.expect([refusal])
      let key = try ObjectKey("photo")
      let body = try TransferFixture().body([UInt8](repeating: 7, count: 300_000))
      _ = try store.putFile(
        key, body, condition: .none, metadata: .none, isDurable: true, cancellation: .never)
      #expect(try store.get(key).body.count == 300_000)
      #expect(count.withLock { $0 } == 2)
      // A head names no cause; the read of a byte that follows it does.
      let renewing = CredentialSource {
        let number = count.withLock { count in
          count += 1
          return count
        }
        return number == 3 ? try Credentials(accessKey: "OLD", secretKey: "S") : known
      }
      let other = try S3Store(endpoint: plain.endpoint, credentials: renewing)
      try proxy.expect([refusal, refusal])
      #expect(try other.head(key).size == 300_000)
      #expect(count.withLock { $0 } == 4)
    }
  }

  @Test("a proxy is that of the environment, but not for this machine and for what NO_PROXY names")
  func proxies() throws {
    func proxy(_ address: String, _ variables: [String: String]) throws -> String? {
      let endpoint = try S3Endpoint(address: address, bucket: "bucket")
      return ProxySettings { variables[$0] }.proxy(for: endpoint)
    }
    let all = ["HTTPS_PROXY": "http://p:1", "HTTP_PROXY": "http://cgi:1", "NO_PROXY": "a.org, .b.org"]
    #expect(try proxy("https://s3.example.org", all) == "http://p:1")
    #expect(try proxy("https://s3.example.org:99", ["https_proxy": "http://q:2"]) == "http://q:2")
    #expect(try proxy("http://s3.example.org", all) == nil)
    #expect(try proxy("http://s3.example.org", ["http_proxy": "http://r:3"]) == "http://r:3")
    for host in [
      "https://a.org:8", "https://x.a.org", "https://b.org", "https://127.0.0.1:9", "https://[::1]:9",
    ] {
      #expect(try proxy(host, all) == nil)
    }
    #expect(try proxy("https://ba.org", all) != nil)
    #expect(try proxy("https://h", ["HTTPS_PROXY": "http://p:1", "no_proxy": "*"]) == nil)
    let options: JSONObject = ["access_key": "A", "secret_key": "B", "endpoint": "https://h", "region": "r"]
    #expect(try store(options, all).options.proxy == "http://p:1")
    let other = try store(options.merging(["proxy": "http://o:4"]), all)
    #expect(other.options.proxy == "http://o:4")
    #expect(try store(options.merging(["proxy": ""]), all).options.proxy == nil)
  }
}

extension JSONObject {
  fileprivate func merging(_ more: JSONObject) -> JSONObject {
    var merged = self
    for (name, value) in more { merged[name] = value }
    return merged
  }
}
