//! Signatures by `ring`, which the TLS stack brings anyway, for the crate that reads tokens.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::signature::{self, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::signature as of_ring;

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: no_signer,
    verifier_factory: verifier,
    // Only for making key sets, which nobody here does.
    key_utils: KeyUtils {
        rsa_pub_components_from_private_key: |_| Err(unsupported()),
        rsa_pub_components_from_public_key: |_| Err(unsupported()),
        ec_pub_components_from_private_key: |_, _| Err(unsupported()),
        ed_pub_components_from_private_key: |_, _| Err(unsupported()),
        compute_digest: |_, _| Err(unsupported()),
    },
};

/// Makes these the signatures of the process.
pub(super) fn install() {
    // A second server in one process finds them there.
    let _ = PROVIDER.install_default();
}

fn unsupported() -> Error {
    ErrorKind::UnsupportedAlgorithm.into()
}

fn no_signer(_: &Algorithm, _: &EncodingKey) -> Result<Box<dyn JwtSigner>, Error> {
    Err(unsupported())
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    // Signatures by a shared secret are not offered at all, so no public key can be taken for one.
    if key.family() != family(*algorithm).ok_or_else(unsupported)? {
        return Err(ErrorKind::InvalidKeyFormat.into());
    }
    Ok(Box::new(OfRing { algorithm: *algorithm, key: key.kind().clone() }))
}

fn family(algorithm: Algorithm) -> Option<jsonwebtoken::AlgorithmFamily> {
    use jsonwebtoken::AlgorithmFamily::{Ec, Ed, Rsa};
    match algorithm {
        Algorithm::RS256 | Algorithm::RS384 | Algorithm::RS512 => Some(Rsa),
        Algorithm::PS256 | Algorithm::PS384 | Algorithm::PS512 => Some(Rsa),
        Algorithm::ES256 | Algorithm::ES384 => Some(Ec),
        Algorithm::EdDSA => Some(Ed),
        _ => None,
    }
}

struct OfRing {
    algorithm: Algorithm,
    key: DecodingKeyKind,
}

impl Verifier<Vec<u8>> for OfRing {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let checked = match (&self.key, self.algorithm) {
            (DecodingKeyKind::RsaModulusExponent { n, e }, algorithm) => {
                let parameters = match algorithm {
                    Algorithm::RS256 => &of_ring::RSA_PKCS1_2048_8192_SHA256,
                    Algorithm::RS384 => &of_ring::RSA_PKCS1_2048_8192_SHA384,
                    Algorithm::RS512 => &of_ring::RSA_PKCS1_2048_8192_SHA512,
                    Algorithm::PS256 => &of_ring::RSA_PSS_2048_8192_SHA256,
                    Algorithm::PS384 => &of_ring::RSA_PSS_2048_8192_SHA384,
                    Algorithm::PS512 => &of_ring::RSA_PSS_2048_8192_SHA512,
                    _ => return Err(signature::Error::new()),
                };
                of_ring::RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            (DecodingKeyKind::SecretOrDer(point), algorithm) => {
                let parameters: &dyn of_ring::VerificationAlgorithm = match algorithm {
                    Algorithm::ES256 => &of_ring::ECDSA_P256_SHA256_FIXED,
                    Algorithm::ES384 => &of_ring::ECDSA_P384_SHA384_FIXED,
                    Algorithm::EdDSA => &of_ring::ED25519,
                    _ => return Err(signature::Error::new()),
                };
                of_ring::UnparsedPublicKey::new(parameters, point).verify(message, signature)
            }
        };
        checked.map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for OfRing {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}
